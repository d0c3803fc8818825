//! `EntityMatcher` for Python: conversions and nothing else.

use super::signals::{detached, in_pieces};
use crate::matching::matcher::{Hit, Matcher, MatcherError};
use crate::matching::readings::Kind;
use crate::matching::scene;
use crate::py::mention::{Match, Mention, Rejection};
use crate::text::offsets::CodePoints;
use crate::threads::spread;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use rayon::prelude::*;

pyo3::import_exception!(armarius.errors, ContractError);

/// Texts above this many bytes are searched without the GIL (about a tenth of a millisecond).
const DETACH_ABOVE: usize = 64 * 1024;

impl From<MatcherError> for PyErr {
    fn from(error: MatcherError) -> Self {
        ContractError::new_err(error.to_string())
    }
}

/// What tells that somebody speaks: characters behind a name, words beside one.
#[pyclass(frozen, module = "armarius._core")]
pub struct Speech(scene::Speech);

#[pymethods]
impl Speech {
    #[new]
    #[pyo3(signature = (han, latin, /))]
    fn new(han: &str, latin: Vec<String>) -> Self {
        Self(scene::Speech {
            han: han.chars().collect(),
            latin: latin.into_iter().collect(),
        })
    }
}

/// Entities that are named: first mention, how often, whether near, whether speaking. And ids that are not, each with
/// its alias and the longer name that holds it.
type Scene = (
    Vec<(Mention, u32, bool, bool)>,
    Vec<(Py<PyString>, Py<PyString>, Option<Py<PyString>>)>,
);

/// An immutable set of entity names, and the automaton that finds them in a text.
#[pyclass(frozen, module = "armarius._core")]
pub struct EntityMatcher {
    matcher: Matcher,
    ids: Vec<Py<PyString>>,
    /// Of each alias, made when it is first met: a text has few names of a long list.
    terms: Vec<PyOnceLock<Py<PyString>>>,
}

// Arguments are extracted by value: that is how PyO3 hands over a list.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl EntityMatcher {
    #[new]
    #[pyo3(signature = (entities, short, /))]
    fn new(
        py: Python<'_>,
        entities: Vec<(PyBackedStr, PyBackedStr, Vec<PyBackedStr>)>,
        short: Vec<(PyBackedStr, PyBackedStr)>,
    ) -> PyResult<Self> {
        let named = entities
            .iter()
            .map(|(id, kind, names)| (&**id, kind_of(kind), names.iter().map(|name| &**name)));
        let short: Vec<(&str, &str)> = short.iter().map(|(id, name)| (&**id, &**name)).collect();
        let matcher = detached(py, || Matcher::with_short_names(named, &short))??;
        let ids = matcher
            .ids()
            .iter()
            .map(|id| PyString::new(py, id).unbind())
            .collect();
        let terms = matcher.aliases().map(|_| PyOnceLock::new()).collect();
        Ok(Self {
            matcher,
            ids,
            terms,
        })
    }

    /// The entity ids, in the order first given; the packed form counts in it.
    #[getter]
    fn entity_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.ids)
    }

    /// The number of different aliases after folding.
    #[getter]
    fn alias_count(&self) -> usize {
        self.terms.len()
    }

    fn __len__(&self) -> usize {
        self.ids.len()
    }

    /// Mentions that do not overlap, in order.
    #[pyo3(signature = (text, /))]
    fn find_all<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let hits = self.run(py, text, |matcher| matcher.find_all(text))?;
        PyList::new(py, self.mentions(py, text, &hits)?)
    }

    /// All mentions, nested and overlapping ones too, in order.
    #[pyo3(signature = (text, /))]
    fn find_overlapping<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let hits = self.run(py, text, |matcher| matcher.find_overlapping(text))?;
        PyList::new(py, self.mentions(py, text, &hits)?)
    }

    /// One match per entity: the earliest, then longest.
    #[pyo3(signature = (text, /))]
    fn detect(&self, py: Python<'_>, text: &str) -> PyResult<Vec<Match>> {
        let hits = self.run(py, text, |matcher| matcher.detect(text))?;
        let mut cursor = CodePoints::new(text);
        let matches = hits.into_iter().map(|(entity, hit)| Match {
            entity_id: self.ids[entity as usize].clone_ref(py),
            matched_term: self.term(py, text, hit),
            position: cursor.at(hit.start) as u32,
        });
        Ok(matches.collect())
    }

    /// `find_all` of each text, in one crossing and in parallel.
    #[pyo3(signature = (texts, /))]
    fn find_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
    ) -> PyResult<Bound<'py, PyList>> {
        texts.iter().try_for_each(|text| check_length(text))?;
        let found = in_pieces(py, &texts, 1 << 22, |_, piece| {
            let one = |(_, text): (usize, &PyBackedStr)| self.matcher.find_all(text);
            Ok::<_, PyErr>(of_each(piece, one))
        })?;
        let mentions = |(text, hits): (&PyBackedStr, &Vec<_>)| self.mentions(py, text, hits);
        let rows: PyResult<Vec<_>> = texts.iter().zip(&found).map(mentions).collect();
        PyList::new(py, rows?)
    }

    /// `find_batch` as little-endian u32 quadruples: text, entity, start, end.
    #[pyo3(signature = (texts, /))]
    fn find_packed<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        texts.iter().try_for_each(|text| check_length(text))?;
        let packed = in_pieces(py, &texts, 1 << 22, |first, piece| {
            let one = |(at, text): (usize, &PyBackedStr)| {
                self.matcher.find_packed((first + at) as u32, text)
            };
            Ok::<_, PyErr>(of_each(piece, one))
        })?;
        Ok(PyBytes::new(py, &packed.concat()))
    }

    /// Aliases that stand in the text and are not mentions, with the reason.
    #[pyo3(signature = (text, /))]
    fn explain(&self, py: Python<'_>, text: &str) -> PyResult<Vec<Rejection>> {
        let rejected = self.run(py, text, |matcher| matcher.explain(text))?;
        let mut cursor = CodePoints::new(text);
        let mut rejections = Vec::with_capacity(rejected.len());
        for one in rejected {
            let (start, end) = cursor.span(one.hit.start, one.hit.end);
            for entity in self.matcher.entities_of(one.hit.alias) {
                rejections.push(Rejection {
                    entity_id: self.ids[*entity as usize].clone_ref(py),
                    term: self.term(py, text, one.hit),
                    start: start as u32,
                    end: end as u32,
                    reason: PyString::new(py, one.reason.as_str()).unbind(),
                    by: one.by.map(|by| self.term(py, text, by)),
                });
            }
        }
        Ok(rejections)
    }

    /// Who is named in a text, by first mentions, and who is hidden by longer names; `near` are code points.
    #[pyo3(signature = (text, near, speech, /))]
    fn scene(
        &self,
        py: Python<'_>,
        text: &str,
        near: (i64, i64),
        speech: &Bound<'_, Speech>,
    ) -> PyResult<Scene> {
        let speech = &speech.get().0;
        let (named, hidden) = self.run(py, text, |matcher| matcher.scene(text, near, speech))?;
        let id = |entity: u32| self.ids[entity as usize].clone_ref(py);
        let mut cursor = CodePoints::new(text);
        let named = named.into_iter().map(|one| {
            let (start, end) = cursor.span(one.first.start, one.first.end);
            let mention = Mention {
                entity_id: id(one.entity),
                term: self.term(py, text, one.first),
                start: start as u32,
                end: end as u32,
            };
            (mention, one.count, one.near, one.speaks)
        });
        let named = named.collect();
        let hidden = hidden.into_iter().map(|one| {
            let by = one.by.map(|by| self.term(py, text, by));
            (id(one.entity), self.term(py, text, one.hit), by)
        });
        Ok((named, hidden.collect()))
    }
}

impl EntityMatcher {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        text: &str,
        search: impl FnOnce(&Matcher) -> T + Send,
    ) -> PyResult<T> {
        check_length(text)?;
        if text.len() < DETACH_ABOVE {
            return Ok(search(&self.matcher));
        }
        detached(py, || search(&self.matcher))
    }

    fn mentions(&self, py: Python<'_>, text: &str, hits: &[Hit]) -> PyResult<Vec<Mention>> {
        let mut cursor = CodePoints::new(text);
        let mut mentions = Vec::with_capacity(hits.len());
        for (number, hit) in hits.iter().enumerate() {
            if number % SIGNALS_EVERY == SIGNALS_EVERY - 1 {
                py.check_signals()?;
            }
            let (start, end) = cursor.span(hit.start, hit.end);
            for entity in self.matcher.entities_of(hit.alias) {
                mentions.push(Mention {
                    entity_id: self.ids[*entity as usize].clone_ref(py),
                    term: self.term(py, text, *hit),
                    start: start as u32,
                    end: end as u32,
                });
            }
        }
        Ok(mentions)
    }

    /// What was written: the alias's own string object when it was written that way.
    fn term(&self, py: Python<'_>, text: &str, hit: Hit) -> Py<PyString> {
        let written = &text[hit.start..hit.end];
        if written == self.matcher.alias(hit.alias) {
            self.terms[hit.alias as usize]
                .get_or_init(py, || PyString::new(py, written).unbind())
                .clone_ref(py)
        } else {
            PyString::new(py, written).unbind()
        }
    }
}

/// Mentions made between two looks for signals: a few milliseconds.
const SIGNALS_EVERY: usize = 1 << 14;

/// `one` of each text and its number, on all cores where there is enough to do to wake them.
fn of_each<T: Send>(
    texts: &[PyBackedStr],
    one: impl Fn((usize, &PyBackedStr)) -> T + Send + Sync,
) -> Vec<T> {
    let size = texts.iter().map(|text| text.len()).sum::<usize>();
    if size < DETACH_ABOVE || texts.len() == 1 {
        return texts.iter().enumerate().map(one).collect();
    }
    spread(|| texts.par_iter().enumerate().map(one).collect())
}

fn kind_of(kind: &str) -> Kind {
    match kind {
        "person" => Kind::Person,
        _ => Kind::Other,
    }
}

fn check_length(text: &str) -> PyResult<()> {
    if u32::try_from(text.len()).is_ok() {
        return Ok(());
    }
    Err(ContractError::new_err(format!(
        "a text of {} bytes is longer than 4 GiB",
        text.len()
    )))
}
