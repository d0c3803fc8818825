import { Runner, ScriptRunner, clean } from "./script";

export type ToolCall = { name: string; script: string };

export function handleToolCall(call: ToolCall): string {
  return runScript(new ScriptRunner(call.name), call.script);
}

export function runScript(runner: Runner, script: string): string {
  return runner.run(clean(script));
}

export const handlers = [handleToolCall];
