//! Aliases to an automaton; text to mentions.
//!
//! A `Matcher` finds where known names stand in a text, spans in bytes. This file builds it and says what
//! it answers; how it searches is in `search`, where a mention may begin and end in `boundary`.
//!
//! Cost: building is linear in the aliases; a search is one pass, see `search`.

use crate::interrupt::{Pace, aside};
use crate::matching::boundary::Reason;
use crate::matching::fold_trigger::Alphabet;
use crate::matching::full_stops::other_habit;
use crate::matching::prefilter::Prefilter;
use crate::matching::readings::{self, Kind};
use crate::text::ballast::ballasted;
use crate::text::normalize;
use crate::text::offsets::CodePoints;
use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// Why a matcher cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MatcherError {
    /// An alias without a visible character.
    #[error("entity {id:?}: {which} is blank")]
    Blank {
        /// The entity.
        id: String,
        /// "name" or "alias" with its place.
        which: String,
    },
    /// More aliases than the automaton can hold.
    #[error("too many aliases for one matcher: {0}")]
    TooLarge(String),
}

/// One occurrence of an alias. Entities are `Matcher::entities_of(alias)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Start in bytes of the original text.
    pub start: usize,
    /// End in bytes, exclusive.
    pub end: usize,
    /// Index of the alias.
    pub alias: u32,
}

/// An alias that stands in the text and is not a mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    /// Where and which.
    pub hit: Hit,
    /// Why.
    pub reason: Reason,
    /// The mention that covers it, if one does.
    pub by: Option<Hit>,
}

#[derive(Debug, Clone)]
struct Alias {
    shown: String,
    /// Indices into the entity ids, in the order of the ids.
    entities: Vec<u32>,
    /// What all its entities are, `Other` when they differ.
    kind: Kind,
    /// Derived from a name; nobody listed it.
    short: bool,
}

/// An immutable set of aliases and the automaton that finds them.
#[derive(Debug)]
pub struct Matcher {
    ids: Vec<String>,
    aliases: Vec<Alias>,
    /// None without aliases.
    pub(crate) engine: Option<Engine>,
}

/// What a search runs on.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) automaton: NFA,
    pub(crate) prefilter: Prefilter,
    pub(crate) alphabet: Alphabet,
    /// Whether some alias spans lines.
    multiline: bool,
}

impl Matcher {
    /// Builds the matcher of `(entity id, names)`; ids that repeat are one entity, names that fold to the same are one alias.
    pub fn new<'a, N>(
        entities: impl IntoIterator<Item = (&'a str, N)>,
    ) -> Result<Self, MatcherError>
    where
        N: IntoIterator<Item = &'a str>,
    {
        let entities = entities.into_iter();
        let of_no_kind = entities.map(|(id, names)| (id, Kind::Other, names));
        Self::with_short_names(of_no_kind, &[])
    }

    /// As `new`, with what each entity is, and `(entity id, name)` of persons' names that nobody listed: they need their
    /// capitals.
    pub fn with_short_names<'a, N>(
        entities: impl IntoIterator<Item = (&'a str, Kind, N)>,
        short: &[(&'a str, &'a str)],
    ) -> Result<Self, MatcherError>
    where
        N: IntoIterator<Item = &'a str>,
    {
        let mut pace = Pace::new();
        let mut ids: Vec<String> = Vec::new();
        let mut index_of: FxHashMap<&str, u32> = FxHashMap::default();
        let mut names_of = Names::default();
        for (id, kind, names) in entities {
            let entity = *index_of.entry(id).or_insert_with(|| {
                ids.push(id.to_owned());
                ids.len() as u32 - 1
            });
            for (place, name) in names.into_iter().enumerate() {
                pace.step(name.len() + NAME);
                if !names_of.add(name, entity, kind, false) {
                    let which = match place {
                        0 => "its name".to_owned(),
                        _ => format!("alias {place}"),
                    };
                    let id = id.to_owned();
                    return Err(MatcherError::Blank { id, which });
                }
            }
        }
        for (id, name) in short {
            if let Some(entity) = index_of.get(id) {
                names_of.add(name, *entity, Kind::Person, true);
            }
        }
        names_of.add_other_habits();
        let Names {
            mut aliases,
            index_of: aliases_by_form,
        } = names_of;
        let mut folded = vec![String::new(); aliases.len()];
        #[expect(clippy::iter_over_hash_type, reason = "each has a place of its own")]
        for (form, alias) in aliases_by_form {
            folded[alias as usize] = form;
        }
        for alias in &mut aliases {
            alias
                .entities
                .sort_unstable_by(|a, b| ids[*a as usize].cmp(&ids[*b as usize]));
        }
        let engine = match folded.as_slice() {
            [] => None,
            _ if folded.len() < ASIDE => Some(Engine::new(&folded)?),
            _ => Some(aside(move || Engine::new(&folded))?),
        };
        Ok(Self {
            ids,
            aliases,
            engine,
        })
    }

    /// What the surroundings of a hit have against it (`reading`).
    pub(crate) fn rejection(&self, text: &str, hit: &Hit) -> Option<Reason> {
        let alias = &self.aliases[hit.alias as usize];
        let short = alias.short.then_some(alias.shown.as_str());
        readings::rejection(text, hit.start, hit.end, alias.kind, short)
    }

    /// The entity ids, in the order in which they were first given.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The aliases as they were first written, by index.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().map(|alias| alias.shown.as_str())
    }

    /// The alias as it was first written.
    pub fn alias(&self, alias: u32) -> &str {
        &self.aliases[alias as usize].shown
    }

    /// The entities that share the alias, in the order of their ids, as indices into `ids`.
    pub fn entities_of(&self, alias: u32) -> &[u32] {
        &self.aliases[alias as usize].entities
    }

    /// The first mention of each entity, as (index of the entity, mention), by start, longest first.
    pub fn detect(&self, text: &str) -> Vec<(u32, Hit)> {
        let mut seen = FxHashSet::default();
        let mentions = self.find_all(text).into_iter();
        let each = mentions.flat_map(|hit| {
            self.entities_of(hit.alias)
                .iter()
                .map(move |entity| (*entity, hit))
        });
        each.filter(|(entity, _)| seen.insert(*entity)).collect()
    }

    /// Mentions as little-endian u32 quadruples: `number`, index of the entity, start and end in code points.
    pub fn find_packed(&self, number: u32, text: &str) -> Vec<u8> {
        let hits = self.find_all(text);
        let mut packed = Vec::with_capacity(hits.len() * 16);
        let mut cursor = CodePoints::new(text);
        for hit in hits {
            let (start, end) = cursor.span(hit.start, hit.end);
            for entity in self.entities_of(hit.alias) {
                for value in [number, *entity, start as u32, end as u32] {
                    packed.extend_from_slice(&value.to_le_bytes());
                }
            }
        }
        packed
    }
}

/// The aliases of a matcher under construction.
#[derive(Default)]
struct Names {
    aliases: Vec<Alias>,
    /// By what they fold to.
    index_of: FxHashMap<String, u32>,
}

impl Names {
    /// Adds a name of `entity`; false if nothing of it is visible.
    fn add(&mut self, name: &str, entity: u32, kind: Kind, short: bool) -> bool {
        let shown = name.trim();
        let folded = normalize::fold(shown).text.into_owned();
        if folded.trim().is_empty() {
            return false;
        }
        if let Some(known) = self.index_of.get(&folded) {
            let alias = &mut self.aliases[*known as usize];
            // Ascending, and nearly always at the end: many entities may share a name.
            if let Err(place) = alias.entities.binary_search(&entity) {
                alias.entities.insert(place, entity);
                alias.kind = if alias.kind == kind {
                    kind
                } else {
                    Kind::Other
                };
            }
            return true;
        }
        self.index_of.insert(folded, self.aliases.len() as u32);
        self.aliases.push(Alias {
            shown: shown.to_owned(),
            entities: vec![entity],
            kind,
            short,
        });
        true
    }

    /// Adds each name as it is with the full stops of its titles and without, unless somebody's name is written so.
    fn add_other_habits(&mut self) {
        for known in 0..self.aliases.len() {
            let alias = &self.aliases[known];
            let Some(shown) = other_habit(&alias.shown) else {
                continue;
            };
            let folded = normalize::fold(&shown).text.into_owned();
            if let Entry::Vacant(free) = self.index_of.entry(folded) {
                free.insert(self.aliases.len() as u32);
                let other = Alias {
                    shown,
                    ..alias.clone()
                };
                self.aliases.push(other);
            }
        }
    }
}

impl Engine {
    fn new(aliases: &[String]) -> Result<Self, MatcherError> {
        let letters = aliases
            .iter()
            .any(|alias| alias.bytes().any(|byte| byte.is_ascii_alphabetic()));
        let automaton = NFA::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(letters)
            .dense_depth(DENSE_DEPTH)
            .prefilter(false)
            .build(ballasted(aliases))
            .map_err(|error| MatcherError::TooLarge(error.to_string()))?;
        let root = automaton
            .start_state(Anchored::Yes)
            .map_err(|error| MatcherError::TooLarge(error.to_string()))?;
        Ok(Self {
            prefilter: Prefilter::new(aliases, &automaton, root),
            alphabet: Alphabet::new(aliases),
            multiline: aliases.iter().any(|alias| alias.contains('\n')),
            automaton,
        })
    }

    /// The line that `at` lies in, without its end; the whole text when an alias spans lines.
    pub(crate) fn line_around(&self, text: &str, at: usize) -> (usize, usize) {
        if self.multiline {
            return (0, text.len());
        }
        let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
        let end = text[at..].find('\n').map_or(text.len(), |after| at + after);
        (start, end)
    }
}

/// As many names have an automaton in a few milliseconds; that of more is built aside.
const ASIDE: usize = 4096;
/// What taking a name in costs, in bytes of folding.
const NAME: usize = 64;

/// States up to here are rows of a table: the bytes of one Han character branch too widely for lists.
const DENSE_DEPTH: usize = 3;
