//! One node of the graph: a symbol, and what kind of thing it is.

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// A class or struct.
    Class,
    /// An interface or trait.
    Interface,
    /// An enum.
    Enum,
    /// Any other type.
    Type,
    /// A function outside of classes.
    Function,
    /// A function of a class.
    Method,
    /// A macro.
    Macro,
    /// A module-level name in capitals.
    Constant,
    /// Any other module-level name.
    Variable,
    /// A field of a class.
    Attribute,
    /// A file.
    Module,
}

impl NodeKind {
    /// The word used outside.
    pub fn word(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Interface => "interface",
            Self::Enum => "enum",
            Self::Type => "type",
            Self::Function => "function",
            Self::Method => "method",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Attribute => "attribute",
            Self::Module => "module",
        }
    }

    /// Whether the kind says what code does, rather than what it holds.
    pub fn is_principal(self) -> bool {
        !matches!(self, Self::Attribute | Self::Variable | Self::Module)
    }
}

/// One symbol of the project, or one outside that the project uses.
#[derive(Debug, Clone)]
pub struct Node {
    /// `module.Class.method`.
    pub qualified: Box<str>,
    /// Number of the package in `Graph::packages`.
    pub package: u32,
    /// Shortest unique ending of `qualified`; set when the graph is finished.
    pub name: Box<str>,
    /// What it is.
    pub kind: NodeKind,
    /// Outside of the project: a leaf without place or edges of its own.
    pub external: bool,
    /// Number of the document.
    pub document: u32,
    /// 0-based first line, of the name.
    pub line: u32,
    /// 0-based last line of the header.
    pub header_line: u32,
    /// 0-based last line.
    pub end_line: u32,
    /// The class it is a member of.
    pub parent: Option<u32>,
}
