//! What an index knows, in columns: which symbol stands where, and where it is defined.
//!
//! Both sources end here: a SCIP file is decoded into it, CKB's answers are collected into it. The
//! rest of the room cannot tell which it was.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::code::index::symbol_id;
use crate::code::scan::position::{Encoding, Pos};

/// One file of the index.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Path relative to the project, with `/`.
    pub path: String,
    /// Unit of the columns.
    pub encoding: Encoding,
    /// The text, when the index carries it.
    pub text: Option<String>,
}

/// One occurrence of one symbol: 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Index into `documents`.
    pub document: u32,
    /// Index into `symbols`.
    pub symbol: u32,
    /// First character.
    pub start: Pos,
    /// End column on the line of `start`, or of a later line for a (rare) multi-line occurrence.
    pub end: u32,
    /// Index into `enclosing` plus one when the whole definition's extent is known, else 0; and
    /// whether this defines the symbol.
    flags: u32,
}

impl Row {
    /// Whether the symbol is defined here.
    pub fn is_definition(&self) -> bool {
        self.flags & 1 == 1
    }
}

/// All occurrences of one index, grouped by document.
#[derive(Debug, Default)]
pub struct Occurrences {
    /// Name and version of the program that made the index.
    pub tool: String,
    /// The files.
    pub documents: Vec<Document>,
    /// Distinct symbol ids, in order of first appearance; no locals, no parameters.
    pub symbols: Vec<Arc<str>>,
    /// The occurrences in document order.
    pub rows: Vec<Row>,
    enclosing: Vec<(Pos, Pos)>,
}

impl Occurrences {
    /// Extent of the definition at `row`, when the index says it.
    pub fn extent(&self, row: &Row) -> Option<(Pos, Pos)> {
        ((row.flags >> 1) as usize)
            .checked_sub(1)
            .and_then(|i| self.enclosing.get(i))
            .copied()
    }

    /// Rows of each document, in document order; rows must be grouped by document.
    pub fn by_document(&self) -> Vec<&[Row]> {
        let mut out = Vec::with_capacity(self.documents.len());
        let mut from = 0;
        for document in 0..self.documents.len() as u32 {
            let length = self.rows[from..].partition_point(|r| r.document <= document);
            out.push(&self.rows[from..from + length]);
            from += length;
        }
        out
    }

    /// Number of the symbol with this id.
    pub fn symbol(&self, id: &str) -> Option<u32> {
        self.symbols
            .iter()
            .position(|s| &**s == id)
            .map(|i| i as u32)
    }
}

/// Collects occurrences; `finish` sorts them by document.
#[derive(Debug, Default)]
pub struct Collector {
    out: Occurrences,
    known: FxHashMap<Arc<str>, u32>,
}

impl Collector {
    /// Starts a document and returns its number.
    pub fn document(&mut self, document: Document) -> u32 {
        self.out.documents.push(document);
        self.out.documents.len() as u32 - 1
    }

    /// Names the program that made the index.
    pub fn tool(&mut self, tool: String) {
        self.out.tool = tool;
    }

    /// The last document, to fill in what arrives late.
    pub fn document_mut(&mut self, number: u32) -> Option<&mut Document> {
        self.out.documents.get_mut(number as usize)
    }

    /// Adds one occurrence; locals, parameters and type parameters are left out.
    pub fn add(
        &mut self,
        document: u32,
        id: &str,
        start: Pos,
        end: u32,
        definition: bool,
        extent: Option<(Pos, Pos)>,
    ) {
        if symbol_id::is_minor(id) {
            return;
        }
        let symbol = if let Some(&n) = self.known.get(id) {
            n
        } else {
            let shared: Arc<str> = Arc::from(id);
            let n = self.out.symbols.len() as u32;
            self.out.symbols.push(Arc::clone(&shared));
            self.known.insert(shared, n);
            n
        };
        let extent = extent.filter(|_| definition).map_or(0, |e| {
            self.out.enclosing.push(e);
            self.out.enclosing.len() as u32
        });
        self.out.rows.push(Row {
            document,
            symbol,
            start,
            end,
            flags: extent << 1 | u32::from(definition),
        });
    }

    /// The occurrences, grouped by document and ordered by position within it; documents by path,
    /// one for each path.
    pub fn finish(mut self) -> Occurrences {
        let documents = &self.out.documents;
        let mut order: Vec<u32> = (0..documents.len() as u32).collect();
        order.sort_by(|&a, &b| {
            documents[a as usize]
                .path
                .cmp(&documents[b as usize].path)
                .then(a.cmp(&b))
        });
        let mut place = vec![0u32; order.len()];
        let mut sorted: Vec<Document> = Vec::with_capacity(order.len());
        for old in order {
            let document = std::mem::take(&mut self.out.documents[old as usize]);
            if sorted.last().is_none_or(|d| d.path != document.path) {
                sorted.push(document);
            }
            place[old as usize] = sorted.len() as u32 - 1;
        }
        self.out.documents = sorted;
        for row in &mut self.out.rows {
            row.document = place[row.document as usize];
        }
        self.out
            .rows
            .sort_by_key(|r| (r.document, r.start, !r.is_definition(), r.symbol));
        self.out.rows.dedup();
        self.out
    }
}
