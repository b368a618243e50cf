/** A fenced block of a Markdown file. */
export interface DocumentBlock {
  /** `docs/tasks.md:12` */
  readonly place: string;
  readonly language: string;
  /** `run`, `check`, `fragment`, or nothing for what is no program. */
  readonly check: string | undefined;
  readonly lines: readonly string[];
}

export function blocksOf(root: string, file: string): DocumentBlock[];
export function unmarked(blocks: readonly DocumentBlock[]): string[];
