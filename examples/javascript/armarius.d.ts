// Written by scripts/write_reference.py from the table of verbs.

/** An error that the channel answered, or why it could not answer. Branch on `code`. */
export class ArmariusError extends Error {
  constructor(code: string, message: string, method?: string);
  /**
   * One of docs/channel.md and docs/warnings.md, such as `UNKNOWN_DOCUMENT`; of this client:
   * `PROCESS_ENDED`, `REQUEST_TOO_LARGE`, `CLOSED`.
   */
  code: string;
  /** The method that was called. */
  method?: string;
}

export interface Progress {
  /** Files done, and files to do. */
  done: number;
  total: number;
  /** The last one. */
  path: string;
  /** With `workspace`: whose index is built. */
  projectId?: string;
}

export interface Options {
  /** A project folder. */
  project?: string;
  /** Instead: a folder of project folders. Every call then names one by `projectId`, see `of`. */
  workspace?: string;
  /** Instead: a connection string of PostgreSQL, and whose projects. Calls name a project by `projectId`, see `of`. */
  store?: string;
  tenant?: string;
  /** Instead: projects that the app writes with `documents:write`, gone when the client is closed. */
  memory?: boolean;
  /** Of folders: offer `documents:write`, `:rename` and `:delete` too. */
  allowWrite?: boolean;
  /** The program, with arguments before `channel` if it is an array; `armarius` on the PATH when not given. */
  command?: string | readonly string[];
  /** Its environment; that of this process when not given. */
  env?: Record<string, string | undefined>;
  /** Called while an index is built. */
  onProgress?: (progress: Progress) => void;
  /** Called with each line that the program writes to its standard error. */
  onLog?: (line: string) => void;
}

export interface CallOptions {
  /** Cancels the call: it is rejected with the signal's reason, and its work stops. */
  signal?: AbortSignal;
  /** Milliseconds after which what is late is left out of the answer, with a warning. */
  timeoutMs?: number;
}

/** A method with required params needs them; others may be called without. */
export type Arguments<M extends Method> = {} extends Methods[M]["params"]
  ? [params?: Methods[M]["params"], options?: CallOptions]
  : [params: Methods[M]["params"], options?: CallOptions];

export interface Project {
  call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Methods[M]["result"]>;
}

/** A process of `armarius channel`, started by the first call and again by the first call after it died. */
export class Armarius implements Project {
  constructor(options: Options);
  /** Asks a method. Offsets, given and answered, count as JavaScript does, unless `positionEncoding` says otherwise. */
  call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Methods[M]["result"]>;
  /** The same calls for one project of the workspace. */
  of(projectId: string): Project;
  /** Id of the process; undefined while there is none. */
  readonly pid: number | undefined;
  /** Ends the process after the calls under way are answered. */
  close(): Promise<void>;
}

export type Method = keyof Methods;

export interface Methods {
  /** A prompt within its budget, and its account. */
  "context:prompt:assemble": { params: AssembleRequest; result: AssembleResult };
  /** What `assemble` would send, layer by layer; never the prompt. */
  "context:prompt:inspect": { params: InspectRequest; result: InspectResult };
  /** What is in the prompt and what is not, with a title and a reason for each; never the prompt. */
  "context:prompt:account": { params: AssembleRequest; result: Account };
  /** Why something is in the prompt or is not, and what would change it. */
  "context:prompt:why": { params: WhyRequest; result: Why };
  /** The prompt as messages to send to a provider, with its cache marker. */
  "context:prompt:messages": { params: MessagesRequest; result: MessagesResult };
  /** The account of the same candidates under another budget. */
  "context:prompt:whatif": { params: WhatIfRequest; result: Account };
  /** What changes from the prompt to the one of the request with other fields; entries are sources. */
  "context:prompt:diff": { params: DiffRequest; result: Difference };
  /** How the project divides its prompts, with the version that an update names. */
  "context:budget:get": { params: Params; result: BudgetProfile };
  /** Replace the profile, if it is still at `version`; CONTEXT_BUDGET_CONFLICT if not. */
  "context:budget:update": { params: UpdateBudget; result: BudgetProfile };
  /** Every rule that every prompt states. */
  "constraints:list": { params: Params; result: { items: Constraint[]; warnings: string[]; } };
  /** Add a rule that every prompt states. */
  "constraints:create": { params: NewConstraint; result: Constraint };
  /** Change what is sent of a rule that every prompt states. */
  "constraints:update": { params: ChangedConstraint; result: Constraint };
  /** Remove a rule that every prompt states. */
  "constraints:delete": { params: ById; result: { id: string; } };
  /** Every memory. */
  "memories:list": { params: Params; result: { items: Memory[]; warnings: string[]; } };
  /** Add a memory. */
  "memories:create": { params: NewMemory; result: Memory };
  /** Change what is sent of a memory. */
  "memories:update": { params: ChangedMemory; result: Memory };
  /** Remove a memory. */
  "memories:delete": { params: ById; result: { id: string; } };
  /** What is in every prompt, or in none. */
  "pins:list": { params: Params; result: { items: Pin[]; warnings: string[]; } };
  /** Pin or mute something. */
  "pins:add": { params: NewPin; result: Pin };
  /** Undo a pin or a mute. */
  "pins:remove": { params: Target; result: { target: string; } };
  /** Every known entity with its number of mentions; the names that were taken for no entity, and why. */
  "entities:list": { params: Params; result: { items: ListedEntity[]; rejected: RejectedName[]; warnings: string[]; } };
  /** One entity, by id, name or alias. */
  "entities:get": { params: ById; result: Entity };
  /** The card of an entity as a prompt shows it. */
  "entities:card": { params: CardOf; result: { card: string; } };
  /** Describe an entity, in `.armarius/codex.toml`. */
  "entities:create": { params: NewEntity; result: Entity };
  /** Change what is sent of an entity. */
  "entities:update": { params: ChangedEntity; result: Entity };
  /** The change that `entities:update` would make to which file, as a unified diff; nothing is written. */
  "entities:preview": { params: ChangedEntity; result: { path: string; diff: string; digest: string; } };
  /** Remove an entity from where it is described. */
  "entities:delete": { params: DeletedEntity; result: Deleted };
  /** Take back the last edit of a page by `entities:update` or `entities:delete`; the files that it changed. */
  "entities:undo": { params: Params; result: { items: string[]; warnings: string[]; } };
  /** Relations of an entity, or all. */
  "entities:relations": { params: RelationsOf; result: { items: Relation[]; warnings: string[]; } };
  /** Add a relation. */
  "entities:relate": { params: NewRelation; result: NewRelationAnswered };
  /** Remove a relation. */
  "entities:unrelate": { params: Ends; result: EndsAnswered };
  /** The known entities that a text names: one match each, the earliest, by position. */
  "entities:detect": { params: InText; result: { items: Matched[]; warnings: string[]; } };
  /** Every mention of a known entity in a text. */
  "entities:mentions": { params: InText; result: { items: Mentioned[]; warnings: string[]; } };
  /** Everything the project says about an entity; competing statements are marked. */
  "entities:evidence": { params: EvidenceOf; result: { items: Statement[]; warnings: string[]; } };
  /** Names that the chapters use and no profile describes. */
  "entities:propose": { params: Proposing; result: { items: Proposed[]; warnings: string[]; } };
  /** Documents by path, without their text. */
  "documents:list": { params: Listing; result: { items: DocumentSummary[]; total: number; warnings: string[]; } };
  /** One document, with its paragraphs if they are asked for. */
  "documents:get": { params: Reading; result: DocumentText };
  /** Paragraphs that hold the words as written, best first. */
  "documents:search": { params: Searching; result: { items: FoundPassage[]; warnings: string[]; } };
  /** Sentences that hold the words together or any of them, or answer a question: a page, with path and line. */
  "documents:find": { params: Finding; result: FoundSentences };
  /** The documents and sections that answer a question, best first, with every reason. */
  "documents:retrieve": { params: Retrieving; result: ListedFound };
  /** Where quoted words stand, in the open document first. */
  "documents:locate": { params: Locating; result: { items: PromptPlace[]; warnings: string[]; } };
  /** What every file is taken for, how sure that is, and the line that settles each doubt. */
  "project:map": { params: Params; result: ProjectMap };
  /** Say what files are, in armarius.toml; the map after it. */
  "project:setKind": { params: NewKind; result: ProjectMap };
  /** One question to a language model about the project, its files and its people; at most 6,000 tokens. */
  "project:understand:request": { params: Params; result: Understanding };
  /** What a model's reply proposes; nothing is applied. */
  "project:understand:parse": { params: ModelReply; result: Proposals };
  /** Write what a model's reply proposes into armarius.toml, all or nothing; what was written. */
  "project:understand:apply": { params: AppliedReply; result: Proposals };
  /** Every summary, and which documents have a stale one. */
  "summaries:list": { params: Params; result: { items: Summary[]; stale: string[]; warnings: string[]; } };
  /** The summary of a document. */
  "summaries:get": { params: OfDocument; result: Summary };
  /** Replace the summary of a document. */
  "summaries:set": { params: NewSummary; result: Summary };
  /** Remove the summary of a document. */
  "summaries:delete": { params: OfDocument; result: { documentId: string; } };
  /** What to ask a language model for the summaries that are missing or stale: short chapters together. */
  "summaries:requests": { params: SummariesDue; result: { items: SummaryQuestion[]; warnings: string[]; } };
  /** The summaries in a model's reply, and by path why a chapter has none; nothing is kept until `summaries:set`. */
  "summaries:parse": { params: SummariesReply; result: { items: ParsedSummary[]; refused: Record<string, string>; warnings: string[]; } };
  /** Every lorebook, and why one that lies in the project cannot be read, by id. */
  "books:list": { params: Params; result: { items: ListedBook[]; problems: Record<string, string>; warnings: string[]; } };
  /** A lorebook with its entries, by id or name. */
  "books:get": { params: ById; result: BookText };
  /** Bring a lorebook, card, vault or export of another program in; the report says what has no effect here. */
  "books:import": { params: BookFile; result: Imported };
  /** A lorebook as a file, in base64, and what its format cannot say; unchanged, it is the file that it came in. */
  "books:export": { params: BookAs; result: { data: string; losses: FieldWithoutEffect[]; } };
  /** Change what is sent of a lorebook; a changed one makes no rules. */
  "books:update": { params: ChangedBook; result: BookText };
  /** Take a lorebook out of the project, with the file that it came in. */
  "books:delete": { params: ById; result: { id: string; } };
  /** Which lorebook entries a chat or a text wakes, as the books' own programs would, and which nearly. */
  "books:active": { params: Activating; result: { active: ActiveEntry[]; left: ActiveEntry[]; state: Record<string, unknown>; } };
  /** What calls, references, inherits, imports and overrides what around a symbol. */
  "code:subgraph": { params: Around; result: CodeAround };
  /** What the index is doing and what it holds. */
  "index:status": { params: Params; result: Status };
  /** Make the index equal to the folder now. */
  "index:refresh": { params: Params; result: Status };
  /** Wait for the build to end. */
  "index:wait": { params: Waiting; result: Waited };
  /** Stop the build after the transaction that it is in. */
  "index:cancel": { params: Params; result: Status };
  /** Replace and remove files of a project, all or none; on a server others take the version as `atLeast`. */
  "documents:write": { params: WriteFiles; result: { version: number; } };
  /** Give a document another path, where no file is, with its summary and its pins. */
  "documents:rename": { params: RenamedDocument; result: { version: number; } };
  /** Remove a document. */
  "documents:delete": { params: OfDocument; result: { version: number; } };
  /** The projects there are, by id. */
  "projects:list": { params: ListProjects; result: { items: ListedProject[]; warnings: string[]; } };
  /** With `--store` or `--memory`: delete a project with all that it holds. */
  "projects:delete": { params: OneProject; result: { projectId: string; } };
  /** With `--memory`: texts, records and index of a project, in base64, for `projects:restore` at the next start. */
  "projects:snapshot": { params: OneProject; result: { data: string; } };
  /** With `--memory`: a new project of a snapshot; what is damaged or of another version is left out (`warnings`). */
  "projects:restore": { params: Snapshot; result: { projectId: string; warnings: string[]; } };
}

/** What is in a prompt and what is not, without the prompt. */
export interface Account {
  tokenCount: number;
  /** Of the request, the reserve included. */
  budget: number;
  /** Name of the counter behind every number, and whether it is the model's own. */
  counter: string;
  counterExact: boolean;
  capacityPercent: number;
  /**
   * How likely the answer to the query is in what was found, 0 to 1; absent without a query that looks for an
   * answer.
   */
  confidence?: number | null;
  stablePrefixHash: string;
  /** By name. */
  layers: Record<string, LayerTokens>;
  warnings: string[];
  /** In prompt order. */
  items: AccountRow[];
  /** What nobody mentioned stands last. */
  omitted: AccountRow[];
}

/** Something that is in a prompt, or, without a span, is not. */
export interface AccountRow {
  /** Of the thing, wherever it comes from; `include`, `exclude` and `thing` take it. */
  id: string;
  layer: "rules" | "settings" | "retrieved" | "immediate";
  source: string;
  /** Its name, and `reason` why it is in or out, both in the language of the prompt. */
  title: string;
  /** The reason for programs: of what is out one of a closed list, such as `budget`. */
  code: string;
  reason: string;
  /** What it costs, or would have cost; 0 where that is not known. */
  tokens: number;
  /** `full`, `short` or `truncated`. */
  form?: string | null;
  /** In the prompt, in units of the request's `positionEncoding`, half-open. */
  span?: [start: number, end: number] | null;
  /** The file to open, and `paragraph` which one of it. */
  path?: string | null;
  paragraph?: number | null;
}

/** The messages of a chat or the text of a story, and how its program is set. */
export interface Activating {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Oldest first: texts, `{"name", "text"}`, or `{"role", "content"}`. */
  messages?: unknown[] | null;
  text?: string | null;
  story?: string | [opening: string, actions: string[]] | null;
  /** Ids; all that are not switched off. */
  books?: string[] | null;
  /** By the names of the book's program. */
  settings?: Record<string, unknown> | null;
  turn?: number | null;
  rolls?: number[] | null;
  /** That of the last answer; else it is replayed. */
  state?: Record<string, unknown> | null;
  character?: string | null;
  user?: string | null;
  trigger?: string | null;
  tags?: string[] | null;
  sources?: Record<string, string> | null;
  greeting?: number | null;
  model?: string | null;
  budget?: number | null;
}

/** An entry of a lorebook that is active, where it goes and why; without place and text, one that is not. */
export interface ActiveEntry {
  book: string;
  entry: string;
  name: string;
  reason: string;
  place?: Record<string, unknown> | null;
  text?: string | null;
}

/** A reply to apply, except the proposals named in `without`. */
export interface AppliedReply {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** The reply as it came. */
  reply: string;
  /** Name of the model, written beside what is applied. */
  model?: string | null;
  /** Of the question; refused when files have changed since. */
  hash?: string | null;
  /** Names of proposals that are left out, and stay out. */
  without?: string[] | null;
  /** A person has said yes: they weigh as lines of the user's own. */
  declared?: boolean | null;
}

/** A symbol, how far around it, and along which edges. */
export interface Around {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Name or qualified name of a function, method or class. */
  symbol: string;
  /** Edges from the symbol, at most. */
  depth?: number | null;
  direction?: "callers" | "callees" | "both" | null;
  kinds?: ("calls" | "inherits" | "overrides" | "refs" | "imports")[] | null;
  maxNodes?: number | null;
  maxEdges?: number | null;
  external?: boolean | null;
  includeTree?: boolean | null;
}

/** One request for a prompt; its fields are the keywords of `context:prompt:assemble`. */
export interface AssembleRequest {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * Offset into the current document, in units of `positionEncoding`; its end when not given, of a chapter behind
   * its last prose. Past the end of what is saved it is the end, with CONTEXT_CURSOR_CLAMPED.
   */
  cursorPosition?: number | null;
  /**
   * The host's name for the task: what it says (write, continue, rewrite, polish, check, summarise, translate,
   * brainstorm, rename, state, present, ask; also 续写, 改写 …, or a name under `[skills]`) is done, whatever the words
   * are; another name says nothing. Part of the identity of the stable prefix.
   */
  skillId?: string | null;
  /** The text around the cursor, or the selection. */
  additionalInput?: string | null;
  /** The user's words, in any language. */
  query?: string | null;
  /** Decides the tokenizer and the provider's cache rules, such as deepseek-chat; the configured one when not given. */
  model?: string | null;
  /** Decides the rules of the prompt cache; part of the identity of the stable prefix. */
  provider?: string | null;
  /** Part of the identity of the stable prefix. */
  tokenizerVersion?: string | null;
  /** Tokens for prompt and reserve together; the profile's when not given. */
  budget?: number | null;
  /** Tokens of `budget` kept free for the model's answer. */
  reserveOutput?: number | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /**
   * The current document as the editor holds it, saved or not; the index is not touched. With an unknown path it is
   * a new document. As saved when not given.
   */
  text?: string | null;
  /**
   * What is selected in the current document, first and last offset in either order, in units of `positionEncoding`:
   * in the prompt whole. Without a cursor, that is its end.
   */
  selection?: [from: number, to: number] | null;
  /** Whether the window shows the stated cursor as `<cursor/>`, what is selected in `<selection>…</selection>`. */
  marks?: boolean | null;
  /** Whether the story goes on, as after 续写, where the query does not say what it wants. */
  story?: boolean | null;
  /**
   * Pinned: ids, names, paths (`chapters/ch003.md`, `chapters/ch003.md#12`) or tags, before anything else of the
   * retrieved layer, also what is muted for good (`pins:add`).
   */
  include?: string[] | null;
  /** Muted: ids, names, paths or tags, also what is pinned for good. */
  exclude?: string[] | null;
  /** Of headings and labels; what `assembly.language` says when not given, else that of the texts. */
  language?: "zh" | "en" | "ja" | null;
  /**
   * The conversation that the query stands in, oldest message first, the query itself last or not: messages of the
   * form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she live?") is looked up too.
   * Without a query, the last message is it if a user says it.
   */
  messages?: ({ role?: string | null; content?: unknown | null; })[] | null;
  /**
   * So many of the newest messages stand in the prompt before the query, whole, as far as a fifth of it holds them;
   * 0 for a host that sends the conversation itself.
   */
  includeMessages?: number | null;
  /** Whether each layer of the result has its `content`, as in the prompt. */
  includeContent?: boolean | null;
  /**
   * A name of the host's for what is being done: a prompt continues the last one of its task. The 32 tasks that were
   * at work last are remembered, while the engine is open.
   */
  taskId?: string | null;
}

/** The answer to a request, exactly as it travels. */
export interface AssembleResult {
  /** The four layers, concatenated. */
  prompt: string;
  /** Of `prompt` as sent, by the counter of the request's model. */
  tokenCount: number;
  /** SHA-256 (hex) over the rules and settings layers as rendered. */
  stablePrefixHash: string;
  /**
   * Against the previous request of the same project, skill, provider, model and tokenizer; false when there was
   * none.
   */
  stablePrefixUnchanged: boolean;
  warnings: string[];
  assemblyOrder: ("rules" | "settings" | "retrieved" | "immediate")[];
  /** `tokenCount` as a share of the budget less the reserve, one decimal. */
  capacityPercent: number;
  layers: LayerResults;
  /**
   * How likely the answer to the query is in what was found, 0 to 1; absent without a query that looks for an
   * answer.
   */
  confidence?: number | null;
  /** Where what the prompt shows stands, in prompt order; of requests with `text` or a selection. */
  shown?: ShownPlace[] | null;
}

/** Which book, by id or name, as a file of which format. */
export interface BookAs {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  id: string;
  /** The format that it came in when not given. */
  to?: "sillytavern" | "card-v2" | "card-v3" | "novelai" | "risu" | "agnai" | "kobold" | "ai-dungeon" | "character-book" | "lorebook-v3" | null;
}

/** An entry of a lorebook. */
export interface BookEntry {
  id: string;
  name: string;
  text: string;
  level: "always" | "when_detected" | "manual_only" | "never";
  folder: string;
  type: string;
  keys: KeyIn[];
}

/** A lorebook, card, module, vault or export of another program. */
export interface BookFile {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** The bytes of the file, in base64; at most 6 MB of them. */
  data: string;
  /** Of the file, such as `harbour.json`. */
  name?: string | null;
  /** Whose activation rules; else those of its format. */
  profile?: "armarius" | "sillytavern" | "character-card-spec" | "novelai" | "risu" | "agnai" | "kobold-lite" | "koboldai" | "ai-dungeon" | "novelcrafter" | "obsidian" | null;
  /** Id of the book that this is a newer state of; detected when empty. */
  updates?: string | null;
  /** Entries, `entry.field`, or `all` conflicts to take as the file has them. */
  theirs?: string[] | null;
  /** Only the report; nothing is written. */
  preview?: boolean | null;
}

/** A lorebook with its entries, in the order of the file. */
export interface BookText {
  id: string;
  name: string;
  character: string | null;
  format: string;
  profile: "armarius" | "sillytavern" | "character-card-spec" | "novelai" | "risu" | "agnai" | "kobold-lite" | "koboldai" | "ai-dungeon" | "novelcrafter" | "obsidian";
  entries: BookEntry[];
  file: string;
  switchedOff: boolean;
}

/** How a project divides its prompts. */
export interface BudgetProfile {
  /** Grows by one with every update; an update names the version it was made from. */
  version: number;
  /** Tokens when a request names none. */
  budget: number;
  /** One budget per layer. */
  layers?: Record<string, LayerBudget>;
  /** From here on the answer carries CONTEXT_CAPACITY_WARNING. */
  warnPercent: number;
  /** No prompt grows beyond this share (CONTEXT_CAPACITY_FORCE_TRIM). */
  trimPercent: number;
  /** What the story so far may take of a prompt that continues it; 0 tells none. */
  storyPercent: number;
}

/** Names one record. */
export interface ById {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  id: string;
}

/** The entity whose card is returned. */
export interface CardOf {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Name, alias or id of an entity. */
  id: string;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
}

/** A book, by id or name, and the fields to change; the imported file is not written. */
export interface ChangedBook {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  id: string;
  /** Whose activation rules. */
  profile?: "armarius" | "sillytavern" | "character-card-spec" | "novelai" | "risu" | "agnai" | "kobold-lite" | "koboldai" | "ai-dungeon" | "novelcrafter" | "obsidian" | null;
  /** Keep it, and out of prompts. */
  switchedOff?: boolean | null;
  /** Entry id to what of it is to be another; null takes it out, a new id adds one. */
  entries?: Record<string, EntryIn | null> | null;
}

/** A rule and the fields to change. */
export interface ChangedConstraint {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  id: string;
  text?: string | null;
  source?: "user" | "kg" | null;
  priority?: number | null;
}

/** An entity, by id, name or alias, and the fields to change; `unset` lists fields to remove. */
export interface ChangedEntity {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  name?: string | null;
  id: string;
  /** Take a name that another entity has: two are meant. */
  force?: boolean | null;
  /** Character, location, event, item, faction, foreshadowing, inspiration, or another word. */
  type?: string | null;
  aliases?: string[] | null;
  description?: string | null;
  attributes?: Record<string, string> | null;
  level?: "always" | "when_detected" | "manual_only" | "never" | null;
  facts?: FactIn[] | null;
  unset?: ("type" | "aliases" | "description" | "attributes" | "level" | "facts")[] | null;
  /** The `digest` of a preview: refused if the page has changed since. */
  expect?: string | null;
}

/** A memory and the fields to change. */
export interface ChangedMemory {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  id: string;
  text?: string | null;
  kind?: "semantic" | "episodic" | "procedural" | null;
  confidence?: number | null;
}

/** A subgraph, or lines of a text search when there is no graph; then `degraded` and `reason` are there. */
export interface CodeAround {
  nodes?: Node[] | null;
  edges?: Edge[] | null;
  results?: Line[] | null;
  degraded?: boolean | null;
  reason?: string | null;
  truncated?: boolean | null;
  warnings?: string[] | null;
  tree?: string | null;
}

/** A rule that every prompt states; `priority` from 0, higher first; `source` says who set it. */
export interface Constraint {
  id: string;
  text: string;
  source: "user" | "kg";
  priority: number;
}

/** What a `delete` did; `str()` is a sentence. */
export interface Deleted {
  /** Of what was deleted. */
  id: string;
  /** `record` of a file of records, `section` of a page, or `folder` of a book. */
  what: "record" | "section" | "folder";
  /** The file or folder that it was removed from, relative to the project. */
  path: string;
  /** Where it is described still, `path:line` each: another `delete` acts on those, or refuses. */
  left: string[];
}

/** Names an entity, by id, name or alias; with its relations if they are to go too. */
export interface DeletedEntity {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  id: string;
  relations?: boolean | null;
}

/** A request for a prompt, and the fields that differ in the second request. */
export interface DiffRequest {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * Offset into the current document, in units of `positionEncoding`; its end when not given, of a chapter behind
   * its last prose. Past the end of what is saved it is the end, with CONTEXT_CURSOR_CLAMPED.
   */
  cursorPosition?: number | null;
  /**
   * The host's name for the task: what it says (write, continue, rewrite, polish, check, summarise, translate,
   * brainstorm, rename, state, present, ask; also 续写, 改写 …, or a name under `[skills]`) is done, whatever the words
   * are; another name says nothing. Part of the identity of the stable prefix.
   */
  skillId?: string | null;
  /** The text around the cursor, or the selection. */
  additionalInput?: string | null;
  /** The user's words, in any language. */
  query?: string | null;
  /** Decides the tokenizer and the provider's cache rules, such as deepseek-chat; the configured one when not given. */
  model?: string | null;
  /** Decides the rules of the prompt cache; part of the identity of the stable prefix. */
  provider?: string | null;
  /** Part of the identity of the stable prefix. */
  tokenizerVersion?: string | null;
  /** Tokens for prompt and reserve together; the profile's when not given. */
  budget?: number | null;
  /** Tokens of `budget` kept free for the model's answer. */
  reserveOutput?: number | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /**
   * The current document as the editor holds it, saved or not; the index is not touched. With an unknown path it is
   * a new document. As saved when not given.
   */
  text?: string | null;
  /**
   * What is selected in the current document, first and last offset in either order, in units of `positionEncoding`:
   * in the prompt whole. Without a cursor, that is its end.
   */
  selection?: [from: number, to: number] | null;
  /** Whether the window shows the stated cursor as `<cursor/>`, what is selected in `<selection>…</selection>`. */
  marks?: boolean | null;
  /** Whether the story goes on, as after 续写, where the query does not say what it wants. */
  story?: boolean | null;
  /**
   * Pinned: ids, names, paths (`chapters/ch003.md`, `chapters/ch003.md#12`) or tags, before anything else of the
   * retrieved layer, also what is muted for good (`pins:add`).
   */
  include?: string[] | null;
  /** Muted: ids, names, paths or tags, also what is pinned for good. */
  exclude?: string[] | null;
  /** Of headings and labels; what `assembly.language` says when not given, else that of the texts. */
  language?: "zh" | "en" | "ja" | null;
  /**
   * The conversation that the query stands in, oldest message first, the query itself last or not: messages of the
   * form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she live?") is looked up too.
   * Without a query, the last message is it if a user says it.
   */
  messages?: ({ role?: string | null; content?: unknown | null; })[] | null;
  /**
   * So many of the newest messages stand in the prompt before the query, whole, as far as a fifth of it holds them;
   * 0 for a host that sends the conversation itself.
   */
  includeMessages?: number | null;
  /** Whether each layer of the result has its `content`, as in the prompt. */
  includeContent?: boolean | null;
  /**
   * A name of the host's for what is being done: a prompt continues the last one of its task. The 32 tasks that were
   * at work last are remembered, while the engine is open.
   */
  taskId?: string | null;
  /** The fields that differ, by their names on the wire. */
  other: Record<string, unknown>;
}

/** What changed from another pack to this one; entries are sources, in prompt order. */
export interface Difference {
  /** Only in this one. */
  added: string[];
  /** Only in the other. */
  removed: string[];
  /** In both, in another form: whole, short, or cut. */
  reshaped: string[];
  /** In both, and says something else: its source does, or another piece of it is shown. */
  changed: string[];
  /** How many more this prompt has. */
  tokens: number;
}

/** A document without its text; `contentHash` changes with its file. */
export interface DocumentSummary {
  path: string;
  kind: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript";
  title: string;
  chapter: number | null;
  paragraphs: number;
  encoding: string;
  contentHash: string;
}

/** A document; `paragraphs` is their number, or the list of them when the request asks for it. */
export interface DocumentText {
  path: string;
  kind: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript";
  title: string;
  chapter: number | null;
  paragraphs: number | Part[];
  encoding: string;
  contentHash: string;
  text: string;
}

/** Files whose kind is doubtful, and the line of `[documents]` in armarius.toml that settles it. */
export interface Doubt {
  pattern: string;
  kind: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript";
  files: number;
  confidence: number;
  evidence: string[];
  line: string;
}

/** What one symbol does with another, by names of nodes. */
export interface Edge {
  from: string;
  to: string;
  type: string;
}

/** A relation, read from source to target; each end by id, name or alias. */
export interface Ends {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  source: string;
  target: string;
  type: string;
}

/** A relation, read from source to target; each end by id, name or alias. */
export interface EndsAnswered {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId: string;
  source: string;
  target: string;
  type: string;
}

/** An entity of the codex. */
export interface Entity {
  id: string;
  name: string;
  type: string;
  aliases: string[];
  description: string;
  attributes?: Record<string, string>;
  level: "always" | "when_detected" | "manual_only" | "never";
  facts: Fact[];
  origins: Origin[];
  overruled: Overruled[];
}

/** An entry and the fields to change. */
export interface EntryIn {
  name?: string | null;
  text?: string | null;
  level?: "always" | "when_detected" | "manual_only" | "never" | null;
  keys?: KeyIn[] | null;
  folder?: string | null;
  type?: string | null;
}

/** Why a candidate is considered. */
export interface Evidence {
  kind: string;
  detail: string;
  path: string;
  span?: [start: number, end: number] | null;
}

/** An entity, or one attribute of it, and where to look. */
export interface EvidenceOf {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Name, alias or id of an entity. */
  name: string;
  /** Such as 年龄, 住处 or eye colour; without, what the settings say, and what is disputed. */
  attribute?: string | null;
  /** The current chapter; later ones are left out. */
  chapter?: number | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
}

/** A statement that holds from chapter `since` (inclusive) until `until` (exclusive); null is open. */
export interface Fact {
  text: string;
  since?: number | null;
  until?: number | null;
}

/** A statement that holds from one chapter until another. */
export interface FactIn {
  text: string;
  since?: number | null;
  until?: number | null;
}

/** A field of the file that has no effect, was repaired, or cannot be said. */
export interface FieldWithoutEffect {
  path: string;
  value: unknown;
  reason: string;
}

/** Words in any order, or a question; words in quotation marks as they are written. */
export interface Finding {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** The user's words, in any language. */
  query: string;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /** `nextCursor` of the page before; a page has at most 800 characters. */
  cursor?: number | null;
}

/** A document or a section of one, with every reason; `text` when `excerpts` are asked for. */
export interface Found {
  path: string;
  section: string;
  title: string;
  reason: string;
  score: number;
  evidence: Evidence[];
  text?: string | null;
  level?: string | null;
}

/** A paragraph that holds the words: `start` and `end` in its document, `highlights` in its text. */
export interface FoundPassage {
  path: string;
  kind: string;
  title: string;
  chapter: number | null;
  headingPath: string[];
  paragraph: number;
  role: string;
  start: number;
  end: number;
  text: string;
  highlights: [start: number, end: number][];
  snippet: string;
  score: number;
  level?: string | null;
  line?: number | null;
}

/** A page of `documents:find`: without `nextCursor` it is the last; `missing` are words that stand nowhere. */
export interface FoundSentences {
  items: FoundPassage[];
  missing: string[];
  confidence: number;
  warnings: string[];
  nextCursor?: number | null;
}

/** What an import is, or would be: the report of `armarius import --json`. */
export interface Imported {
  kind: "new" | "update" | "same";
  book: Record<string, string>;
  character: string | null;
  folder: string | null;
  entries: Record<string, unknown>[];
  losses: FieldWithoutEffect[];
  changes: Record<string, unknown>[];
  conflicts: Record<string, unknown>[];
  entities: Record<string, unknown>[];
  codex: Record<string, unknown>;
  shared: Record<string, unknown>[];
  kept: boolean;
}

/** A text to look for names in. */
export interface InText {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  text: string;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
}

/** Who asked and when (ISO 8601, UTC). */
export interface InspectMeta {
  debugMode: boolean;
  requestedBy: string;
  requestedAt: string;
}

/** A request to see what `assemble` would send, and who asks. */
export interface InspectRequest {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * Offset into the current document, in units of `positionEncoding`; its end when not given, of a chapter behind
   * its last prose. Past the end of what is saved it is the end, with CONTEXT_CURSOR_CLAMPED.
   */
  cursorPosition?: number | null;
  /**
   * The host's name for the task: what it says (write, continue, rewrite, polish, check, summarise, translate,
   * brainstorm, rename, state, present, ask; also 续写, 改写 …, or a name under `[skills]`) is done, whatever the words
   * are; another name says nothing. Part of the identity of the stable prefix.
   */
  skillId?: string | null;
  /** The text around the cursor, or the selection. */
  additionalInput?: string | null;
  /** The user's words, in any language. */
  query?: string | null;
  /** Decides the tokenizer and the provider's cache rules, such as deepseek-chat; the configured one when not given. */
  model?: string | null;
  /** Decides the rules of the prompt cache; part of the identity of the stable prefix. */
  provider?: string | null;
  /** Part of the identity of the stable prefix. */
  tokenizerVersion?: string | null;
  /** Tokens for prompt and reserve together; the profile's when not given. */
  budget?: number | null;
  /** Tokens of `budget` kept free for the model's answer. */
  reserveOutput?: number | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /**
   * The current document as the editor holds it, saved or not; the index is not touched. With an unknown path it is
   * a new document. As saved when not given.
   */
  text?: string | null;
  /**
   * What is selected in the current document, first and last offset in either order, in units of `positionEncoding`:
   * in the prompt whole. Without a cursor, that is its end.
   */
  selection?: [from: number, to: number] | null;
  /** Whether the window shows the stated cursor as `<cursor/>`, what is selected in `<selection>…</selection>`. */
  marks?: boolean | null;
  /** Whether the story goes on, as after 续写, where the query does not say what it wants. */
  story?: boolean | null;
  /**
   * Pinned: ids, names, paths (`chapters/ch003.md`, `chapters/ch003.md#12`) or tags, before anything else of the
   * retrieved layer, also what is muted for good (`pins:add`).
   */
  include?: string[] | null;
  /** Muted: ids, names, paths or tags, also what is pinned for good. */
  exclude?: string[] | null;
  /** Of headings and labels; what `assembly.language` says when not given, else that of the texts. */
  language?: "zh" | "en" | "ja" | null;
  /**
   * The conversation that the query stands in, oldest message first, the query itself last or not: messages of the
   * form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she live?") is looked up too.
   * Without a query, the last message is it if a user says it.
   */
  messages?: ({ role?: string | null; content?: unknown | null; })[] | null;
  /**
   * So many of the newest messages stand in the prompt before the query, whole, as far as a fifth of it holds them;
   * 0 for a host that sends the conversation itself.
   */
  includeMessages?: number | null;
  /** Whether each layer of the result has its `content`, as in the prompt. */
  includeContent?: boolean | null;
  /**
   * A name of the host's for what is being done: a prompt continues the last one of its task. The 32 tasks that were
   * at work last are remembered, while the engine is open.
   */
  taskId?: string | null;
  /** Echoed in `inspectMeta`. */
  debugMode?: boolean | null;
  /** Likewise: who asks. */
  requestedBy?: string | null;
}

/** What `assemble` would send, layer by layer. Never contains the prompt. */
export interface InspectResult {
  layersDetail: LayerDetails;
  totals: InspectTotals;
  inspectMeta: InspectMeta;
}

/** Sums over an inspection. */
export interface InspectTotals {
  tokenCount: number;
  warningsCount: number;
}

/** A key of an entry. */
export interface KeyIn {
  text: string;
  kind: "plain" | "regex" | "wildcard";
}

/** A key of an entry. */
export interface KeyInSent {
  text: string;
  kind?: "plain" | "regex" | "wildcard" | null;
}

/** What one layer may take; null keeps the profile's value. */
export interface LayerBudget {
  /**
   * Tokens granted first, if the layer has that much to offer; or a share such as `"10%"`. The default of the
   * immediate layer gives way to items held from a previous prompt, down to 35 % of the prompt; another value does
   * not.
   */
  min?: number | string | null;
  /** Tokens never exceeded except by pinned items; or a share such as `"40%"`. */
  max?: number | string | null;
  /** Share of the budget in percent before unused tokens are passed on. */
  ratio?: number | null;
}

/** One layer of an inspection: the same with its content as rendered. */
export interface LayerDetail {
  layer: "rules" | "settings" | "retrieved" | "immediate";
  source: string[];
  tokenCount: number;
  truncated: boolean;
  warnings?: string[] | null;
  content: string;
}

/** The four layers of an inspection, in prompt order. */
export interface LayerDetails {
  rules: LayerDetail;
  settings: LayerDetail;
  retrieved: LayerDetail;
  immediate: LayerDetail;
}

/** One layer of a result: where its content comes from and what it costs. Both are mandatory. */
export interface LayerResult {
  /** Its name, which is also the key that it stands under. */
  layer: "rules" | "settings" | "retrieved" | "immediate";
  /** Of every item, in prompt order. */
  source: string[];
  /** Of the layer as rendered. */
  tokenCount: number;
  /** Something of it was shortened or left out by the budget. */
  truncated: boolean;
  /** Of this layer. */
  warnings?: string[] | null;
  /** As rendered, when the request says `includeContent`. */
  content?: string | null;
}

/** The four layers of a result, in prompt order. */
export interface LayerResults {
  rules: LayerResult;
  settings: LayerResult;
  retrieved: LayerResult;
  immediate: LayerResult;
}

/** What a layer takes of the prompt, and what it was granted. */
export interface LayerTokens {
  tokenCount: number;
  granted: number;
}

/** A line that has the name in it. */
export interface Line {
  file: string;
  line: number;
  match: string;
  text: string;
}

/** Which projects of many. */
export interface ListProjects {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** At most so many. */
  limit?: number | null;
  /** Only those with a later id. */
  after?: string | null;
}

/** A lorebook of the project, with the number of its entries. */
export interface ListedBook {
  id: string;
  name: string;
  character: string | null;
  format: string;
  profile: "armarius" | "sillytavern" | "character-card-spec" | "novelai" | "risu" | "agnai" | "kobold-lite" | "koboldai" | "ai-dungeon" | "novelcrafter" | "obsidian";
  entries: number;
  file: string;
  switchedOff: boolean;
}

/** An entity, with its number of mentions in all documents. */
export interface ListedEntity {
  id: string;
  name: string;
  type: string;
  aliases: string[];
  description: string;
  attributes: Record<string, string>;
  level: "always" | "when_detected" | "manual_only" | "never";
  facts: Fact[];
  origins: Origin[];
  overruled: Overruled[];
  mentions: number;
}

export interface ListedFound {
  items: Found[];
  outcome: "found" | "weak" | "nothing found" | "index not ready" | "source failed";
  confidence: number;
  warnings: string[];
  omitted?: Omission[] | null;
  carried?: string[] | null;
}

/** A project of many; in folders whether it is open, on a server its state. */
export interface ListedProject {
  id: string;
  hot?: boolean | null;
  tenant?: string | null;
  version?: number | null;
  characters?: number | null;
  bytes?: number | null;
  touched?: string | null;
}

/** Which documents, and which part of the list. */
export interface Listing {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /** At most so many. */
  limit?: number | null;
  /** Skip so many. */
  offset?: number | null;
}

/** Quoted words, and the document that is open. */
export interface Locating {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Words that stand in the project. */
  quote: string;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * The current document as the editor holds it, saved or not; the index is not touched. With an unknown path it is
   * a new document. As saved when not given.
   */
  text?: string | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
}

/** What a file is taken for; `order` is its place in the story of its edition, from 0. */
export interface MappedFile {
  path: string;
  kind: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript";
  volume: number | null;
  number: number | null;
  order: number | null;
  edition: "main" | "copy" | "translation" | "archive";
  story: string;
  state: "" | "draft" | "cut" | "empty";
  confidence: number;
  evidence: string[];
  declared: boolean;
  proposed: boolean;
  hidden: boolean;
}

/** An entity that a text names, and where first. */
export interface Matched {
  entityId: string;
  matchedTerm: string;
  position: number;
}

/** A remembered statement about the project or its user; `confidence` in [0, 1]. */
export interface Memory {
  id: string;
  text: string;
  kind: "semantic" | "episodic" | "procedural";
  confidence: number;
}

/** One mention of an entity in a text. */
export interface Mentioned {
  entityId: string;
  term: string;
  span: [start: number, end: number];
}

/** A request for a prompt as a provider's messages. */
export interface MessagesRequest {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * Offset into the current document, in units of `positionEncoding`; its end when not given, of a chapter behind
   * its last prose. Past the end of what is saved it is the end, with CONTEXT_CURSOR_CLAMPED.
   */
  cursorPosition?: number | null;
  /**
   * The host's name for the task: what it says (write, continue, rewrite, polish, check, summarise, translate,
   * brainstorm, rename, state, present, ask; also 续写, 改写 …, or a name under `[skills]`) is done, whatever the words
   * are; another name says nothing. Part of the identity of the stable prefix.
   */
  skillId?: string | null;
  /** The text around the cursor, or the selection. */
  additionalInput?: string | null;
  /** The user's words, in any language. */
  query?: string | null;
  /** Decides the tokenizer and the provider's cache rules, such as deepseek-chat; the configured one when not given. */
  model?: string | null;
  /** Decides the rules of the prompt cache; part of the identity of the stable prefix. */
  provider?: string | null;
  /** Part of the identity of the stable prefix. */
  tokenizerVersion?: string | null;
  /** Tokens for prompt and reserve together; the profile's when not given. */
  budget?: number | null;
  /** Tokens of `budget` kept free for the model's answer. */
  reserveOutput?: number | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /**
   * The current document as the editor holds it, saved or not; the index is not touched. With an unknown path it is
   * a new document. As saved when not given.
   */
  text?: string | null;
  /**
   * What is selected in the current document, first and last offset in either order, in units of `positionEncoding`:
   * in the prompt whole. Without a cursor, that is its end.
   */
  selection?: [from: number, to: number] | null;
  /** Whether the window shows the stated cursor as `<cursor/>`, what is selected in `<selection>…</selection>`. */
  marks?: boolean | null;
  /** Whether the story goes on, as after 续写, where the query does not say what it wants. */
  story?: boolean | null;
  /**
   * Pinned: ids, names, paths (`chapters/ch003.md`, `chapters/ch003.md#12`) or tags, before anything else of the
   * retrieved layer, also what is muted for good (`pins:add`).
   */
  include?: string[] | null;
  /** Muted: ids, names, paths or tags, also what is pinned for good. */
  exclude?: string[] | null;
  /** Of headings and labels; what `assembly.language` says when not given, else that of the texts. */
  language?: "zh" | "en" | "ja" | null;
  /**
   * The conversation that the query stands in, oldest message first, the query itself last or not: messages of the
   * form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she live?") is looked up too.
   * Without a query, the last message is it if a user says it.
   */
  messages?: ({ role?: string | null; content?: unknown | null; })[] | null;
  /**
   * So many of the newest messages stand in the prompt before the query, whole, as far as a fifth of it holds them;
   * 0 for a host that sends the conversation itself.
   */
  includeMessages?: number | null;
  /** Whether each layer of the result has its `content`, as in the prompt. */
  includeContent?: boolean | null;
  /**
   * A name of the host's for what is being done: a prompt continues the last one of its task. The 32 tasks that were
   * at work last are remembered, while the engine is open.
   */
  taskId?: string | null;
  /** Whose messages: those of OpenAI and compatible servers (a string each), or of Anthropic (parts). */
  form?: "openai" | "anthropic" | null;
}

/** A prompt as messages, its cache marker right after the stable prefix; `system` beside them is Anthropic's. */
export interface MessagesResult {
  system?: Record<string, unknown>[] | null;
  messages: Record<string, unknown>[];
  tokenCount: number;
  stablePrefixHash: string;
  stablePrefixUnchanged: boolean;
  warnings: string[];
  capacityPercent: number;
}

/** What a language model replied to the text of `project:understand:request`. */
export interface ModelReply {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** The reply as it came. */
  reply: string;
  /** Name of the model, written beside what is applied. */
  model?: string | null;
  /** Of the question; refused when files have changed since. */
  hash?: string | null;
}

/** A rule that every prompt is to state. */
export interface NewConstraint {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  text: string;
  source?: "user" | "kg" | null;
  priority?: number | null;
  id?: string | null;
}

/** An entity to add; fields left out stay empty. */
export interface NewEntity {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  name: string;
  id?: string | null;
  /** Take a name that another entity has: two are meant. */
  force?: boolean | null;
  /** Character, location, event, item, faction, foreshadowing, inspiration, or another word. */
  type?: string | null;
  aliases?: string[] | null;
  description?: string | null;
  attributes?: Record<string, string> | null;
  level?: "always" | "when_detected" | "manual_only" | "never" | null;
  facts?: FactIn[] | null;
}

/** What files are, as a line of `[documents]` in armarius.toml says it. */
export interface NewKind {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** A path, or a pattern such as `notes/**`. */
  pattern: string;
  kind: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript";
}

/** A memory to store. */
export interface NewMemory {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** One statement, as it is to be read later. */
  text: string;
  /** Only semantic ones enter prompts by themselves. */
  kind?: "semantic" | "episodic" | "procedural" | null;
  /** From 0 to 1. */
  confidence?: number | null;
  id?: string | null;
}

/** A pin, or a mute. */
export interface NewPin {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  target: string;
  documentId?: string | null;
  mute?: boolean | null;
}

/** A relation, and in which chapters it holds. */
export interface NewRelation {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  source: string;
  target: string;
  type: string;
  since?: number | null;
  until?: number | null;
}

/** A relation, and in which chapters it holds. */
export interface NewRelationAnswered {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId: string;
  source: string;
  target: string;
  type: string;
  since?: number | null;
  until?: number | null;
}

/** A document's summary, as it is now. */
export interface NewSummary {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  documentId: string;
  text: string;
  /** What paragraphs of it say, each from one to another, numbered from 0. */
  passages?: PassageSummary[] | null;
}

/** A symbol. */
export interface Node {
  id: string;
  name: string;
  type: string;
}

/** Names a document. */
export interface OfDocument {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  documentId: string;
}

/** Something considered and left out before the budget saw it, with one reason of the closed list. */
export interface Omission {
  id: string;
  layer: "rules" | "settings" | "retrieved" | "immediate";
  source: string;
  reason: "no match" | "shadowed" | "level" | "duplicate" | "timeline" | "budget" | "excluded" | "source failed";
  detail: string;
  aspect: string;
}

/** Names a project of many. */
export interface OneProject {
  /** Names the project. */
  projectId: string;
}

/** Where an entity or relation was read: project-relative path, section heading, 1-based line (0 unknown). */
export interface Origin {
  path: string;
  section: string;
  line: number;
}

/** A value that differs from the merged one: of a weaker folder of a series, of a record, or of a page under one. */
export interface Overruled {
  /** `type`, `level`, `description`, or the key of an attribute. */
  field: string;
  /** The overruled value. */
  value: string;
  /** Where that value is written. */
  origin: Origin;
  /** Where the value that holds is written. */
  by: Origin;
}

/** Fields common to all methods: the project. */
export interface Params {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
}

/** As `summaries:set` takes it. */
export interface ParsedSummary {
  documentId: string;
  text: string;
  passages: PassageSummary[];
}

/** A paragraph of a document. */
export interface Part {
  index: number;
  span: [start: number, end: number];
  headingPath: string[];
  role: string;
  chapter: number | null;
}

/** What the paragraphs `first` to `last` of a document say, inclusive, numbered as `Paragraph.index`. */
export interface PassageSummary {
  first: number;
  last: number;
  text: string;
}

/** A target that is in every prompt with room for it, or with `mute` in none, perhaps only with `document` open. */
export interface Pin {
  id: string;
  target: string;
  mute: boolean;
  documentId: string;
}

/** Number of committed files, of all that differ; everything up to `path` survives a crash. */
export interface Progress {
  done: number;
  total: number;
  path: string;
}

/** What every file is taken for; doubts, most doubtful first; what is not read, by folder or ending. */
export interface ProjectMap {
  files: MappedFile[];
  doubts: Doubt[];
  unread: Record<string, number>;
}

/** Where quoted words stand. */
export interface PromptPlace {
  /** Of the document; that of the request where the buffer is meant, "" for one without a name. */
  path: string;
  /** Code points of the document or buffer, half-open. */
  span: [start: number, end: number];
  /** What stands there, which is the quote only when `exact`. */
  text: string;
  /** What of the prompt shows it; "" for a document that a card of the prompt is made of. */
  source: string;
  /** Word for word; else but for width, case, white space, quotation marks and dashes. */
  exact: boolean;
}

/** What a model proposes, and what enters and leaves the prompts of tasks with it. */
export interface Proposal {
  about: "files" | "read" | "person" | "table" | "no name" | "project";
  name: string;
  says: string;
  now: string;
  files: number;
  enters: string[];
  leaves: string[];
  warning: string;
}

/** What a reply proposes; `refused` is what of it could not be used, `cut` that it ends in the middle. */
export interface Proposals {
  items: Proposal[];
  refused: string[];
  unsure: string[];
  cut: boolean;
}

/** A name that the chapters use and no profile describes. */
export interface Proposed {
  name: string;
  aliases: string[];
  kind: "person" | "place" | "thing";
  count: number;
  documentId: string;
  position: number;
  reason: string;
  known: boolean;
}

/** Which names are proposed. */
export interface Proposing {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** How often a name must be written. */
  least?: number | null;
  /** Also those that are described, marked. */
  known?: boolean | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
}

/** One document; with its paragraphs if they are asked for. */
export interface Reading {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  documentId: string;
  paragraphs?: boolean | null;
  /** Only these lines of the text: [first, last], from 1. */
  lines?: [start: number, end: number] | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
}

/** A heading or a name in a list that was taken for no entity: where it stands (1-based line), and why. */
export interface RejectedName {
  name: string;
  path: string;
  line: number;
  reason: string;
}

/** A typed edge between two entity ids. */
export interface Relation {
  source: string;
  target: string;
  type: string;
  since?: number | null;
  until?: number | null;
  origin?: Origin | null;
}

/** The entity whose relations are returned, by id, name or alias; "" returns those of all entities. */
export interface RelationsOf {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  id?: string | null;
}

/** Names a document, and its new path. */
export interface RenamedDocument {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  documentId: string;
  /** Its path from now on. */
  to: string;
}

/** A question. */
export interface Retrieving {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** The user's words, in any language. */
  query: string;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /** At most so many. */
  limit?: number | null;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * The conversation that the query stands in, oldest message first, the query itself last or not: messages of the
   * form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she live?") is looked up too.
   * Without a query, the last message is it if a user says it.
   */
  messages?: ({ role?: string | null; content?: unknown | null; })[] | null;
  /** Whether each has the text behind it. */
  excerpts?: boolean | null;
}

/** Words as written. */
export interface Searching {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** The user's words, in any language. */
  query: string;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /** At most so many. */
  limit?: number | null;
}

/** Where something that the prompt shows word for word stands. */
export interface ShownPlace {
  /** Of the item, as in its layer. */
  source: string;
  /** Its path; that of the request where the buffer is meant. */
  documentId: string;
  /** In units of the request's `positionEncoding`, half-open. */
  span: [start: number, end: number];
}

/** A file that looks like a document and could not be read as one. */
export interface Skipped {
  path: string;
  reason: string;
}

/** A project of a snapshot. */
export interface Snapshot {
  /** Names the project. */
  projectId: string;
  /** The `data` of `projects:snapshot`, of a project of this name. */
  data: string;
}

/** One sentence that speaks of an attribute of an entity. */
export interface Statement {
  /** The sentence as written: `document[span[0]:span[1]]`. */
  text: string;
  /** Project-relative. */
  path: string;
  /** Of a settings file, else "". */
  section: string;
  /** Index of the paragraph in the document. */
  paragraph: number;
  /** Code points in the document, half-open. */
  span: [start: number, end: number];
  /** Of a chapter, else null. */
  chapter: number | null;
  /** What it says in comparable form (`place:<id>`, `years:16`, `reached:41`, `older:她`, `body:brow`, `eye:grey`). */
  values: string[];
  /** References (`path` or `path#section`) of statements that share none of its values. */
  competesWith: string[];
  /** The attributes it was found to compete about: as asked, or `age`, `house`, `mark` … when none was. */
  attributes: string[];
  /** As of a `Hit`: why prompts do not show it, else "". */
  level: string;
}

/** What the index is doing and what it holds. */
export interface Status {
  state: "ready" | "building" | "cancelled" | "stale";
  progress: Progress;
  watching: boolean;
  documents: number;
  paragraphs: number;
  mentions: number;
  entities: number;
  bytes: number;
  generation: number;
  skipped: Skipped[];
  warnings: string[];
}

/** How many chapters are to be summed up. */
export interface SummariesDue {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** At most so many chapters; all when not given. */
  limit?: number | null;
}

/** What a language model replied to one item of `summaries:requests`. */
export interface SummariesReply {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** The `documents` of the item, in its order. */
  documents: string[];
  /** The reply as it came. */
  reply: string;
}

/** The summary of a document; `contentHash` is that of the text that was summarised. */
export interface Summary {
  id: string;
  documentId: string;
  text: string;
  contentHash: string;
  passages: PassageSummary[];
}

/** What to send to a language model, as one text or as messages, and the chapters that it is about. */
export interface SummaryQuestion {
  documents: string[];
  text: string;
  messages: Record<string, string>[];
  tokens: number;
}

/** The id, name, path or tag to pin or mute, always or only while a document is open. */
export interface Target {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  target: string;
  documentId?: string | null;
}

/** One question to a language model, for any client: `text` or `messages`; `hash` stays while a reply does. */
export interface Understanding {
  text: string;
  messages: Record<string, string>[];
  tokens: number;
  hash: string;
}

/** A profile, and the version that it was made from. */
export interface UpdateBudget {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  version: number;
  profile: Record<string, unknown>;
}

/** Whether the build has ended. */
export interface Waited {
  done: boolean;
}

/** For how long at most. */
export interface Waiting {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Milliseconds. */
  timeoutMs?: number | null;
}

/** A request for a prompt, and another budget for it. */
export interface WhatIfRequest {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * Offset into the current document, in units of `positionEncoding`; its end when not given, of a chapter behind
   * its last prose. Past the end of what is saved it is the end, with CONTEXT_CURSOR_CLAMPED.
   */
  cursorPosition?: number | null;
  /**
   * The host's name for the task: what it says (write, continue, rewrite, polish, check, summarise, translate,
   * brainstorm, rename, state, present, ask; also 续写, 改写 …, or a name under `[skills]`) is done, whatever the words
   * are; another name says nothing. Part of the identity of the stable prefix.
   */
  skillId?: string | null;
  /** The text around the cursor, or the selection. */
  additionalInput?: string | null;
  /** The user's words, in any language. */
  query?: string | null;
  /** Decides the tokenizer and the provider's cache rules, such as deepseek-chat; the configured one when not given. */
  model?: string | null;
  /** Decides the rules of the prompt cache; part of the identity of the stable prefix. */
  provider?: string | null;
  /** Part of the identity of the stable prefix. */
  tokenizerVersion?: string | null;
  /** Tokens for prompt and reserve together; the profile's when not given. */
  budget?: number | null;
  /** Tokens of `budget` kept free for the model's answer. */
  reserveOutput?: number | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /**
   * The current document as the editor holds it, saved or not; the index is not touched. With an unknown path it is
   * a new document. As saved when not given.
   */
  text?: string | null;
  /**
   * What is selected in the current document, first and last offset in either order, in units of `positionEncoding`:
   * in the prompt whole. Without a cursor, that is its end.
   */
  selection?: [from: number, to: number] | null;
  /** Whether the window shows the stated cursor as `<cursor/>`, what is selected in `<selection>…</selection>`. */
  marks?: boolean | null;
  /** Whether the story goes on, as after 续写, where the query does not say what it wants. */
  story?: boolean | null;
  /**
   * Pinned: ids, names, paths (`chapters/ch003.md`, `chapters/ch003.md#12`) or tags, before anything else of the
   * retrieved layer, also what is muted for good (`pins:add`).
   */
  include?: string[] | null;
  /** Muted: ids, names, paths or tags, also what is pinned for good. */
  exclude?: string[] | null;
  /** Of headings and labels; what `assembly.language` says when not given, else that of the texts. */
  language?: "zh" | "en" | "ja" | null;
  /**
   * The conversation that the query stands in, oldest message first, the query itself last or not: messages of the
   * form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she live?") is looked up too.
   * Without a query, the last message is it if a user says it.
   */
  messages?: ({ role?: string | null; content?: unknown | null; })[] | null;
  /**
   * So many of the newest messages stand in the prompt before the query, whole, as far as a fifth of it holds them;
   * 0 for a host that sends the conversation itself.
   */
  includeMessages?: number | null;
  /** Whether each layer of the result has its `content`, as in the prompt. */
  includeContent?: boolean | null;
  /**
   * A name of the host's for what is being done: a prompt continues the last one of its task. The 32 tasks that were
   * at work last are remembered, while the engine is open.
   */
  taskId?: string | null;
  /** Tokens: the same candidates under another budget. */
  otherBudget: number;
}

/** Why something is in a prompt or is not; `text` says all of it, `change` what would change it. */
export interface Why {
  id: string;
  title: string;
  included: boolean;
  reason: string;
  change: string;
  text: string;
  items: AccountRow[];
  omitted: AccountRow[];
}

/** A request for a prompt, and what to explain in it. */
export interface WhyRequest {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Path of the current document, relative to the project; empty for no document. */
  documentId?: string | null;
  /**
   * Offset into the current document, in units of `positionEncoding`; its end when not given, of a chapter behind
   * its last prose. Past the end of what is saved it is the end, with CONTEXT_CURSOR_CLAMPED.
   */
  cursorPosition?: number | null;
  /**
   * The host's name for the task: what it says (write, continue, rewrite, polish, check, summarise, translate,
   * brainstorm, rename, state, present, ask; also 续写, 改写 …, or a name under `[skills]`) is done, whatever the words
   * are; another name says nothing. Part of the identity of the stable prefix.
   */
  skillId?: string | null;
  /** The text around the cursor, or the selection. */
  additionalInput?: string | null;
  /** The user's words, in any language. */
  query?: string | null;
  /** Decides the tokenizer and the provider's cache rules, such as deepseek-chat; the configured one when not given. */
  model?: string | null;
  /** Decides the rules of the prompt cache; part of the identity of the stable prefix. */
  provider?: string | null;
  /** Part of the identity of the stable prefix. */
  tokenizerVersion?: string | null;
  /** Tokens for prompt and reserve together; the profile's when not given. */
  budget?: number | null;
  /** Tokens of `budget` kept free for the model's answer. */
  reserveOutput?: number | null;
  /** Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`. */
  positionEncoding?: "code-point" | "utf-16" | "utf-8" | null;
  /**
   * Chapters to look into, first and last, inclusive, either open; one number is that chapter alone. With it, what
   * is no chapter is not looked into.
   */
  chapters?: number | [first: number | null, last: number | null] | null;
  /** Kinds of documents to look into, one or several; empty is all. Profiles of people and places are `setting`. */
  kinds?: "chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript" | ("chapter" | "outline" | "setting" | "state" | "summary" | "review" | "note" | "template" | "tool" | "data" | "code" | "manuscript")[] | null;
  /**
   * Nothing of a later chapter than this: no paragraph, outline line, fact or relation, even if the query names it.
   * Over the current chapter.
   */
  asOf?: number | null;
  /**
   * The query in other words, as the book would put it, at most 8 of at most 400 characters: looked up with it,
   * never shown.
   */
  also?: string[] | null;
  /**
   * The current document as the editor holds it, saved or not; the index is not touched. With an unknown path it is
   * a new document. As saved when not given.
   */
  text?: string | null;
  /**
   * What is selected in the current document, first and last offset in either order, in units of `positionEncoding`:
   * in the prompt whole. Without a cursor, that is its end.
   */
  selection?: [from: number, to: number] | null;
  /** Whether the window shows the stated cursor as `<cursor/>`, what is selected in `<selection>…</selection>`. */
  marks?: boolean | null;
  /** Whether the story goes on, as after 续写, where the query does not say what it wants. */
  story?: boolean | null;
  /**
   * Pinned: ids, names, paths (`chapters/ch003.md`, `chapters/ch003.md#12`) or tags, before anything else of the
   * retrieved layer, also what is muted for good (`pins:add`).
   */
  include?: string[] | null;
  /** Muted: ids, names, paths or tags, also what is pinned for good. */
  exclude?: string[] | null;
  /** Of headings and labels; what `assembly.language` says when not given, else that of the texts. */
  language?: "zh" | "en" | "ja" | null;
  /**
   * The conversation that the query stands in, oldest message first, the query itself last or not: messages of the
   * form {"role", "content"}, at most 10,000. What the query leaves to it ("where does she live?") is looked up too.
   * Without a query, the last message is it if a user says it.
   */
  messages?: ({ role?: string | null; content?: unknown | null; })[] | null;
  /**
   * So many of the newest messages stand in the prompt before the query, whole, as far as a fifth of it holds them;
   * 0 for a host that sends the conversation itself.
   */
  includeMessages?: number | null;
  /** Whether each layer of the result has its `content`, as in the prompt. */
  includeContent?: boolean | null;
  /**
   * A name of the host's for what is being done: a prompt continues the last one of its task. The 32 tasks that were
   * at work last are remembered, while the engine is open.
   */
  taskId?: string | null;
  /** Id, name, alias, path or paragraph (`path#n`) of what is asked about. */
  thing: string;
}

/** Files to write and delete in one transaction. */
export interface WriteFiles {
  /** Names the project; any other than the one that is open is refused, empty is that one. */
  projectId?: string | null;
  /** Path to text. */
  files?: Record<string, string> | null;
  /** Paths to forget. */
  remove?: string[] | null;
  /** On a server: the version that these were made from. */
  expect?: number | null;
}
