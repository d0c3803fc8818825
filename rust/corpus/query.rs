//! A question as the corpus takes it: groups of terms in families, weights as data, what may be looked at.

use super::CorpusError;
use super::key::{Key, key_of_term, keys_of};
use super::rows::Kind;
use super::table::LEVELS;

/// What must stand in a paragraph.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// All of these terms; how often is how often the rarest of them does.
    Text(Vec<Key>),
    /// An entity by its id, under whichever name.
    Entity(String),
}

impl Wanted {
    /// A word or phrase as it is written.
    pub fn text(text: &str) -> Self {
        Self::Text(keys_of(text))
    }

    /// A term as `text::analyzer` gives it.
    pub fn term(term: &str) -> Self {
        Self::Text(key_of_term(term).into_iter().collect())
    }
}

/// One concept: any of several wordings, whose frequencies add up to one, with one rarity.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Position in the weights' families.
    pub family: usize,
    /// Factor on its score, beside that of the family.
    pub weight: f32,
    /// Each with the factor on its frequency.
    pub any: Vec<(Wanted, f32)>,
}

/// A word of the question, for telling how much of the question a window holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Concept {
    /// The word itself.
    pub word: Wanted,
    /// Factor on its rarity.
    pub weight: f32,
    /// The group of words that mean about the same, if there is one: its wordings of a factor of at least `near`.
    pub group: Option<usize>,
}

/// What a family of terms weighs.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyWeight {
    /// By which groups refer to it.
    pub name: String,
    /// Factor on the scores of its groups.
    pub weight: f32,
    /// How much long texts are held back, 0 to 1, by level.
    pub b: [f32; LEVELS],
}

/// Every constant of the score; see `score`.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Families of terms.
    pub families: Vec<FamilyWeight>,
    /// How soon more occurrences stop counting, by level.
    pub k1: [f32; LEVELS],
    /// Of the paragraph's own words.
    pub paragraph: f32,
    /// Of the words of its neighbours.
    pub near: f32,
    /// Of its window.
    pub window: f32,
    /// Of the unit.
    pub unit: f32,
    /// Of what the outline says of the unit.
    pub line: f32,
    /// Of a chapter that is asked for by number.
    pub asked: f32,
    /// Added to the paragraph's signals before they are multiplied.
    pub c: f32,
    /// Added to the unit's signals before they are multiplied.
    pub d: f32,
    /// Factor on the score of what is no body: headings, front matter.
    pub heading: f32,
}

/// Values of a signal that comes from elsewhere (vectors), for paragraphs: (path, index, value).
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// As errors call it.
    pub name: String,
    /// Factor on the value.
    pub weight: f32,
    /// Factor on the values of the neighbours.
    pub near: f32,
    /// Paragraphs, or units by their position in the document; what is not named is 0.
    pub values: Vec<(String, u32, f32)>,
}

/// What may be found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only documents of these kinds; empty: all.
    pub kinds: Vec<Kind>,
    /// Inclusive bounds of the chapter; what has no chapter passes only when both are open.
    pub chapters: (Option<u32>, Option<u32>),
    /// Nothing of or about a later chapter; what has no chapter passes.
    pub as_of: Option<u32>,
    /// Later chapters that pass nevertheless.
    pub besides: Vec<u32>,
    /// Nothing of or about these chapters.
    pub without: Vec<u32>,
}

impl Filter {
    /// Whether a unit may be found.
    pub fn passes(&self, kind: Kind, chapter: Option<u32>) -> bool {
        !self.is_later(chapter) && self.passes_but_time(kind, chapter)
    }

    /// Whether it lies after what may be known.
    pub fn is_later(&self, chapter: Option<u32>) -> bool {
        let later = |own| self.as_of.is_some_and(|last| own > last) && !self.besides.contains(&own);
        chapter.is_some_and(later)
    }

    /// Whether a unit might be found at some time.
    pub fn passes_but_time(&self, kind: Kind, chapter: Option<u32>) -> bool {
        let (from, to) = self.chapters;
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && match chapter {
                Some(own) if self.without.contains(&own) => false,
                Some(own) => from.is_none_or(|from| from <= own) && to.is_none_or(|to| own <= to),
                None => from.is_none() && to.is_none(),
            }
    }
}

/// The question.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Its concepts by family.
    pub groups: Vec<Group>,
    /// Its words, for the share of them that a window holds.
    pub concepts: Vec<Concept>,
    /// The least factor of a wording that counts as near a concept.
    pub near: f32,
    /// What such a wording is worth beside the word itself, 0 to 1.
    pub share: f32,
    /// The constants.
    pub weights: Weights,
    /// Chapters asked for by number.
    pub chapters: Vec<u32>,
    /// Signals of paragraphs from elsewhere.
    pub paragraphs: Vec<Given>,
    /// Signals of units from elsewhere; `near` is not used.
    pub units: Vec<Given>,
    /// Signals of the outline's paragraphs from elsewhere: each lifts the chapters that it tells of; `near` is not used.
    pub lines: Vec<Given>,
    /// What may be found.
    pub filter: Filter,
    /// Paragraphs that are looked into: units by their signals until there are so many. None: all.
    pub look_into: Option<usize>,
}

impl Weights {
    /// Refuse what is no weight, by name.
    pub fn check(&self) -> Result<(), CorpusError> {
        let invalid = |what: String| Err(CorpusError::Invalid(what));
        let families = self
            .families
            .iter()
            .map(|family| (family.name.as_str(), family.weight));
        all_weights(
            [
                ("paragraph", self.paragraph),
                ("near", self.near),
                ("window", self.window),
                ("unit", self.unit),
                ("line", self.line),
                ("asked", self.asked),
                ("c", self.c),
                ("d", self.d),
                ("heading", self.heading),
            ]
            .into_iter()
            .chain(families),
        )?;
        for family in &self.families {
            if let Some(b) = family.b.iter().find(|b| !(0.0..=1.0).contains(*b)) {
                return invalid(format!(
                    "{}: b must be between 0 and 1, got {b}",
                    family.name
                ));
            }
        }
        match self.k1.iter().find(|k1| !k1.is_finite() || **k1 < 0.0) {
            Some(k1) => invalid(format!("k1 must be finite and >= 0, got {k1}")),
            None => Ok(()),
        }
    }
}

impl Query {
    /// Check what can be checked without a corpus.
    pub fn check(&self) -> Result<(), CorpusError> {
        self.weights.check()?;
        let families = self.weights.families.len();
        if let Some(group) = self.groups.iter().find(|group| group.family >= families) {
            let what = format!("family {} of {families}", group.family);
            return Err(CorpusError::Invalid(what));
        }
        for group in &self.groups {
            let name = self.weights.families[group.family].name.as_str();
            all_weights(
                group
                    .any
                    .iter()
                    .map(|one| (name, one.1))
                    .chain([(name, group.weight)]),
            )?;
        }
        for given in self.paragraphs.iter().chain(&self.units).chain(&self.lines) {
            let name = given.name.as_str();
            let values = given.values.iter().map(|value| (name, value.2));
            all_weights(values.chain([(name, given.weight), (name, given.near)]))?;
        }
        let groups = self.groups.len();
        if let Some(group) = self
            .concepts
            .iter()
            .filter_map(|one| one.group)
            .find(|group| *group >= groups)
        {
            let what = format!("concept of group {group} of {groups}");
            return Err(CorpusError::Invalid(what));
        }
        let concepts = self.concepts.iter().map(|one| ("concept", one.weight));
        all_weights(concepts.chain([("near", self.near), ("share", self.share)]))
    }
}

fn all_weights<'n>(weights: impl Iterator<Item = (&'n str, f32)>) -> Result<(), CorpusError> {
    for (name, weight) in weights {
        if !weight.is_finite() || weight < 0.0 {
            let what = format!("{name}: a weight must be finite and >= 0, got {weight}");
            return Err(CorpusError::Invalid(what));
        }
    }
    Ok(())
}
