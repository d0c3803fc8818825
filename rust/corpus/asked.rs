//! Documents and chapters that are asked for by name: whole if they fit.

use super::CorpusError;
use super::corpus::Corpus;
use super::ledger::Ledger;
use super::rows::Role;

/// What of a unit stays when it does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// From its beginning on.
    Head,
    /// Up to its end.
    Tail,
    /// Its best paragraphs.
    Best,
}

/// A document, or one unit of it, that is asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The document.
    pub path: String,
    /// Position of the unit in the document; None: all of them.
    pub unit: Option<u32>,
    /// What stays when it does not fit.
    pub keep: Keep,
}

/// What is asked for by name, as far as it fits: the shortest first, so that what they leave goes to the longer ones.
pub fn enter(
    corpus: &Corpus,
    asked: &[Asked],
    shown: &[bool],
    ledger: &mut Ledger<'_>,
    score_of: impl Fn(u32) -> f32,
) -> Result<Vec<u32>, CorpusError> {
    let mut wanted = Vec::new();
    for one in asked {
        let units = corpus.find(&one.path).map(|at| {
            let document = &corpus.documents[at];
            let all = document.first_unit..document.first_unit + document.rows.units.len() as u32;
            match one.unit {
                Some(unit) => all.skip(unit as usize).take(1).collect::<Vec<u32>>(),
                None => all.collect(),
            }
        });
        let Some(units) = units.filter(|units| !units.is_empty()) else {
            let unit = one
                .unit
                .map_or(String::new(), |unit| format!(" unit {unit}"));
            return Err(CorpusError::Invalid(format!(
                "{}{unit}: not in the corpus",
                one.path
            )));
        };
        let numbers = units.into_iter().flat_map(|unit| {
            let unit = &corpus.table.units[unit as usize];
            unit.first..unit.first + unit.paragraphs
        });
        let offered: Vec<u32> = numbers
            .filter(|&number| !shown[number as usize] && is_body(corpus, number))
            .collect();
        let mut tokens = 0;
        for &number in &offered {
            tokens += ledger.cost(number)?;
        }
        wanted.push((tokens, offered, one.keep));
    }
    wanted.sort_by_key(|one| one.0);
    let mut entered = Vec::new();
    let mut waiting = i64::try_from(wanted.len()).unwrap_or(i64::MAX);
    for (_, mut offered, keep) in wanted {
        let share = ledger.left / waiting;
        waiting -= 1;
        offered.retain(|&number| !ledger.holds(number));
        let before = ledger.left;
        let mut whole = Vec::new();
        for &number in &offered {
            if !ledger.enter(number, share - (before - ledger.left))? {
                break;
            }
            whole.push(number);
        }
        if whole.len() == offered.len() || keep == Keep::Head {
            entered.extend(whole);
            continue;
        }
        while let Some(number) = whole.pop() {
            ledger.leave(number)?;
        }
        match keep {
            Keep::Tail => offered.reverse(),
            Keep::Best | Keep::Head => {
                offered.sort_by(|a, b| score_of(*b).total_cmp(&score_of(*a)).then(a.cmp(b)));
            }
        }
        for number in offered {
            if ledger.enter(number, share - (before - ledger.left))? {
                entered.push(number);
            } else if keep == Keep::Tail {
                break;
            }
        }
    }
    Ok(entered)
}

fn is_body(corpus: &Corpus, number: u32) -> bool {
    let document = &corpus.documents[corpus.table.units[corpus.unit_of(number)].document as usize];
    let index = number - document.first_paragraph;
    document.rows.paragraphs[index as usize].role == Role::Body
}
