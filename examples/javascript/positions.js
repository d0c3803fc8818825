// Written by scripts/write_reference.py: the methods that take `positionEncoding`.
export const WITH_POSITIONS = new Set([
  "context:prompt:assemble",
  "context:prompt:inspect",
  "context:prompt:account",
  "context:prompt:why",
  "context:prompt:messages",
  "context:prompt:whatif",
  "context:prompt:diff",
  "entities:detect",
  "entities:mentions",
  "entities:evidence",
  "entities:propose",
  "documents:get",
  "documents:search",
  "documents:find",
  "documents:retrieve",
  "documents:locate",
]);
