//! `CorpusQuery`, its groups and its weights.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::kind_of;
use crate::corpus::query::{Concept, FamilyWeight, Filter, Given, Group, Query, Wanted, Weights};
use crate::corpus::table::LEVELS;

type Families = Vec<(String, f32, [f32; LEVELS])>;
type Words = Vec<(PyBackedStr, f32)>;
type Values = Vec<(String, u32, f32)>;
type ParagraphSignals = Vec<(String, f32, f32, Values)>;
type UnitSignals = Vec<(String, f32, Values)>;
type Concepts = Vec<(Option<PyBackedStr>, Option<String>, f32, Option<usize>)>;

/// Every constant of the score.
#[pyclass(frozen, module = "armarius._core")]
pub struct CorpusWeights(Weights);

#[pymethods]
impl CorpusWeights {
    /// Families are (name, weight, b by level); levels are paragraph, window, unit, outline line.
    #[new]
    #[pyo3(signature = (families, *, k1 = [1.2; LEVELS], paragraph = 1.0, near = 0.0, window = 0.0, unit = 0.0,
        line = 0.0, asked = 0.0, c = 0.0, d = 1.0, heading = 0.0))]
    #[expect(clippy::too_many_arguments, reason = "one keyword per constant")]
    fn new(
        families: Families,
        k1: [f32; LEVELS],
        paragraph: f32,
        near: f32,
        window: f32,
        unit: f32,
        line: f32,
        asked: f32,
        c: f32,
        d: f32,
        heading: f32,
    ) -> PyResult<Self> {
        let family = |(name, weight, b)| FamilyWeight { name, weight, b };
        let weights = Weights {
            families: families.into_iter().map(family).collect(),
            k1,
            paragraph,
            near,
            window,
            unit,
            line,
            asked,
            c,
            d,
            heading,
        };
        weights.check()?;
        Ok(Self(weights))
    }

    #[getter]
    fn families(&self) -> Vec<&str> {
        self.0
            .families
            .iter()
            .map(|family| family.name.as_str())
            .collect()
    }
}

/// One concept of a question: any of its wordings, with one rarity.
#[pyclass(frozen, module = "armarius._core")]
pub struct CorpusGroup {
    family: String,
    weight: f32,
    any: Vec<(Wanted, f32)>,
}

// Arguments are extracted by value: that is how PyO3 hands over a list.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl CorpusGroup {
    /// Texts as they are written, terms as `terms` gives them, entities by id: each with the factor on its frequency.
    #[new]
    #[pyo3(signature = (family, texts, *, terms = Vec::new(), entities = Vec::new(), weight = 1.0))]
    fn new(
        family: String,
        texts: Words,
        terms: Words,
        entities: Vec<(String, f32)>,
        weight: f32,
    ) -> Self {
        Self {
            family,
            weight,
            any: wordings(&texts, &terms, entities.into_iter()),
        }
    }
}

/// A concept as it is handed over: (family, weight, terms each with its factor, texts likewise, entities), or made before.
#[derive(FromPyObject)]
enum Told<'py> {
    Fields((PyBackedStr, f32, Words, Words, Vec<String>)),
    Made(PyRef<'py, CorpusGroup>),
}

impl Told<'_> {
    fn read(self) -> CorpusGroup {
        match self {
            Self::Made(group) => CorpusGroup {
                family: group.family.clone(),
                weight: group.weight,
                any: group.any.clone(),
            },
            Self::Fields((family, weight, terms, texts, entities)) => {
                let entities = entities.into_iter().map(|id| (id, 1.0));
                CorpusGroup {
                    family: family.to_string(),
                    weight,
                    any: wordings(&texts, &terms, entities),
                }
            }
        }
    }
}

/// Texts as they are written, terms as `terms` gives them, entities by id.
fn wordings(
    texts: &Words,
    terms: &Words,
    entities: impl Iterator<Item = (String, f32)>,
) -> Vec<(Wanted, f32)> {
    let texts = texts
        .iter()
        .map(|(text, factor)| (Wanted::text(text), *factor));
    let terms = terms
        .iter()
        .map(|(term, factor)| (Wanted::term(term), *factor));
    let entities = entities.map(|(id, factor)| (Wanted::Entity(id), factor));
    texts.chain(terms).chain(entities).collect()
}

/// A question as the corpus takes it.
#[pyclass(frozen, module = "armarius._core")]
pub struct CorpusQuery(pub(super) Query);

// Arguments are extracted by value: that is how PyO3 hands over a list.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl CorpusQuery {
    /// Concepts are (word or None, entity or None, weight, group of near words or None); signals (name, weight, near, values) and
    /// (name, weight, values), values (path, paragraph or unit, value).
    #[new]
    #[pyo3(signature = (weights, groups, *, asked = Vec::new(), concepts = Vec::new(), near = 0.3, share = 0.6,
        paragraph_signals = Vec::new(), unit_signals = Vec::new(), line_signals = Vec::new(), kinds = Vec::new(), chapters = (None, None),
        as_of = None, besides = Vec::new(), without = Vec::new(), look_into = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords")]
    fn new(
        weights: &CorpusWeights,
        groups: Vec<Told<'_>>,
        asked: Vec<u32>,
        concepts: Concepts,
        near: f32,
        share: f32,
        paragraph_signals: ParagraphSignals,
        unit_signals: UnitSignals,
        line_signals: UnitSignals,
        kinds: Vec<PyBackedStr>,
        chapters: (Option<u32>, Option<u32>),
        as_of: Option<u32>,
        besides: Vec<u32>,
        without: Vec<u32>,
        look_into: Option<usize>,
    ) -> PyResult<Self> {
        let weights = weights.0.clone();
        let mut placed = Vec::with_capacity(groups.len());
        for group in groups.into_iter().map(Told::read) {
            let found = weights
                .families
                .iter()
                .position(|family| family.name == group.family);
            let Some(family) = found else {
                let what = format!("no family {:?} in the weights", group.family);
                return Err(PyValueError::new_err(what));
            };
            placed.push(Group {
                family,
                weight: group.weight,
                any: group.any,
            });
        }
        let concepts = concepts
            .into_iter()
            .map(|(word, entity, weight, group)| Concept {
                word: match (word, entity) {
                    (_, Some(id)) => Wanted::Entity(id),
                    (word, None) => Wanted::text(word.as_deref().unwrap_or_default()),
                },
                weight,
                group,
            });
        let paragraphs = paragraph_signals
            .into_iter()
            .map(|(name, weight, near, values)| Given {
                name,
                weight,
                near,
                values,
            });
        let alone = |(name, weight, values)| Given {
            name,
            weight,
            near: 0.0,
            values,
        };
        let units = unit_signals.into_iter().map(alone);
        let lines = line_signals.into_iter().map(alone);
        let kinds: PyResult<Vec<_>> = kinds.iter().map(|kind| kind_of(kind)).collect();
        let query = Query {
            groups: placed,
            concepts: concepts.collect(),
            near,
            share,
            weights,
            chapters: asked,
            paragraphs: paragraphs.collect(),
            units: units.collect(),
            lines: lines.collect(),
            filter: Filter {
                kinds: kinds?,
                chapters,
                as_of,
                besides,
                without,
            },
            look_into,
        };
        query.check()?;
        Ok(Self(query))
    }
}
