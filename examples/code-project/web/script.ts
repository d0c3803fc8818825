export interface Runner {
  run(script: string): string;
}

export class ScriptRunner implements Runner {
  constructor(private readonly greeting: string) {}

  run(script: string): string {
    return `${this.greeting} ${clean(script)}`;
  }
}

export function clean(script: string): string {
  return script.trim();
}
