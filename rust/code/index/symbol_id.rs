//! SCIP symbol ids: `scheme manager package version descriptors`, read into names people use.
//!
//! Users see `module.Class.method`; the id stays inside. A name is the path of descriptors without
//! parameters, type parameters and overload numbers, so overloads are one name.

/// What the last descriptor says a symbol is, before its source text is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suffix {
    /// `/` or `:` : a module, a file, a package.
    Module,
    /// `#` : a class, an interface, an enum, a type.
    Type,
    /// `().` : a function or method.
    Callable,
    /// `.` : an attribute, a variable, a constant.
    Term,
    /// `!` : a macro.
    Macro,
}

/// A symbol id taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// `manager package version`: symbols of one package share it.
    pub package: String,
    /// Dotted path of modules, `""` for none.
    pub module: String,
    /// Dotted path inside the module, `""` for the module itself.
    pub path: String,
    /// What the last descriptor says.
    pub suffix: Suffix,
    /// What the descriptor before it says, when inside a module: a callable in a type is a method.
    pub inside: Option<Suffix>,
}

impl Ident {
    /// Module and path: the name that identifies the symbol within its package.
    pub fn qualified(&self) -> String {
        match (self.module.is_empty(), self.path.is_empty()) {
            (true, _) => self.path.clone(),
            (_, true) => self.module.clone(),
            _ => format!("{}.{}", self.module, self.path),
        }
    }

    /// The last component.
    pub fn name(&self) -> &str {
        let whole = if self.path.is_empty() {
            &self.module
        } else {
            &self.path
        };
        whole.rsplit('.').next().unwrap_or("")
    }
}

/// True for symbols that never become nodes: `local N`, parameters and type parameters.
pub fn is_minor(id: &str) -> bool {
    id.starts_with("local ") || matches!(id.as_bytes().last(), Some(b')' | b']') | None)
}

/// One header field of an id; a doubled space stands for one.
fn field(id: &str, from: usize) -> Option<(&str, usize)> {
    let bytes = id.as_bytes();
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ') if bytes.get(at + 1) == Some(&b' ') => at += 2,
            Some(b' ') => return Some((&id[from..at], at + 1)),
            Some(_) => at += 1,
            None => return None,
        }
    }
}

/// A simple or backticked name at `from`, and where it ends.
fn name_at(id: &str, from: usize) -> Option<(String, usize)> {
    let rest = id.get(from..)?;
    if let Some(quoted) = rest.strip_prefix('`') {
        let mut out = String::new();
        let mut chars = quoted.char_indices().peekable();
        while let Some((i, c)) = chars.next() {
            if c != '`' {
                out.push(c);
            } else if chars.peek().is_some_and(|&(_, next)| next == '`') {
                out.push('`');
                chars.next();
            } else {
                return Some((out, from + 1 + i + 1));
            }
        }
        return None;
    }
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '+' | '-' | '$')))
        .unwrap_or(rest.len());
    (end > 0).then(|| (rest[..end].to_string(), from + end))
}

/// A file name as a module name: `maths.ts` is `maths`, `src.click.core` stays.
fn module_name(name: &str) -> &str {
    const CODE: [&str; 12] = [
        "ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "go", "rs", "java", "kt",
    ];
    let name = name.strip_suffix(".d.ts").unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, extension)) if CODE.contains(&extension) && !stem.is_empty() => stem,
        _ => name,
    }
}

/// Takes a symbol id apart; none for locals, parameters and what is no SCIP id.
///
/// A term inside a term of the same name (`FORCED_WIDTH.FORCED_WIDTH.`, as scip-python writes it)
/// is that term.
pub fn parse(id: &str) -> Option<Ident> {
    if is_minor(id) {
        return None;
    }
    let (_, at) = field(id, 0)?;
    let package_from = at;
    let (_, at) = field(id, at)?;
    let (_, at) = field(id, at)?;
    let (_, mut at) = field(id, at)?;
    let package = id[package_from..at - 1].to_string();
    let mut modules: Vec<String> = Vec::new();
    let mut path: Vec<(String, Suffix)> = Vec::new();
    while at < id.len() {
        let (name, end) = match id.as_bytes()[at] {
            // a parameter in the middle of a path: skip it
            open @ (b'(' | b'[') => {
                let close = if open == b'(' { ')' } else { ']' };
                at += id[at..].find(close)? + 1;
                continue;
            }
            _ => name_at(id, at)?,
        };
        let rest = &id[end..];
        at = end + 1;
        match rest.as_bytes().first()? {
            b'/' if path.is_empty() => modules.push(name),
            b'/' | b':' if name == "__init__" => {}
            b'/' | b':' => path.push((name, Suffix::Module)),
            b'#' => path.push((name, Suffix::Type)),
            b'!' => path.push((name, Suffix::Macro)),
            b'.' => {
                if path.last() != Some(&(name.clone(), Suffix::Term)) {
                    path.push((name, Suffix::Term));
                }
            }
            b'(' => {
                let close = rest.find(')')?;
                (rest.as_bytes().get(close + 1) == Some(&b'.')).then_some(())?;
                at = end + close + 2;
                path.push((name, Suffix::Callable));
            }
            _ => return None,
        }
    }
    if let Some(last) = modules.last_mut() {
        *last = module_name(last).to_string();
    }
    if modules.is_empty() && path.is_empty() {
        return None;
    }
    let suffix = path.last().map_or(Suffix::Module, |(_, s)| *s);
    let inside = path
        .len()
        .checked_sub(2)
        .and_then(|i| path.get(i))
        .map(|(_, s)| *s);
    let path = path
        .iter()
        .map(|(n, _)| n.as_str())
        .collect::<Vec<_>>()
        .join(".");
    Some(Ident {
        package,
        module: modules.join("."),
        path,
        suffix,
        inside,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn row(id: &str, expected: Option<(&str, &str, Suffix)>) {
        let got = parse(id).map(|i| (i.qualified(), i.name().to_string(), i.suffix));
        assert_eq!(
            got,
            expected.map(|(q, n, s)| (q.to_string(), n.to_string(), s)),
            "{id}"
        );
    }

    #[test]
    fn ids_become_dotted_names() {
        use Suffix::{Callable, Module, Term, Type};
        let py = |d: &str| format!("scip-python python click _ {d}");
        row(
            &py("`src.click.core`/__init__:"),
            Some(("src.click.core", "core", Module)),
        );
        row(
            &py("`src.click.core`/Context#"),
            Some(("src.click.core.Context", "Context", Type)),
        );
        row(
            &py("`src.click.core`/Context#invoke()."),
            Some(("src.click.core.Context.invoke", "invoke", Callable)),
        );
        row(&py("`src.click.core`/Context#invoke().(self)"), None);
        row(
            &py("`a`/outer().inner()."),
            Some(("a.outer.inner", "inner", Callable)),
        );
        row(&py("`a`/WIDTH.WIDTH."), Some(("a.WIDTH", "WIDTH", Term)));
        row("local 3", None);
        row(
            "scip-typescript npm . . src/`shapes.ts`/",
            Some(("src.shapes", "shapes", Module)),
        );
        row(
            "scip-typescript npm . . src/`shapes.ts`/Base#`<constructor>`().",
            Some(("src.shapes.Base.<constructor>", "<constructor>", Callable)),
        );
        row(
            "scip-typescript npm rxjs 7.8.1 src/`a.ts`/Observable#pipe(+1).",
            Some(("src.a.Observable.pipe", "pipe", Callable)),
        );
        row("not an id", None);
        row("a b c d `unclosed", None);
    }

    #[test]
    fn a_package_is_three_fields() {
        let ident = parse("scip-python python my  pkg 1.0 `m`/f().").map(|i| i.package);
        assert_eq!(ident.as_deref(), Some("python my  pkg 1.0"));
    }
}
