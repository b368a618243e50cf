/** A pass of a compilation that was watched; the first of them is the program as it came. */
export interface PassStep {
  /** The name of the pass; `source` for the program as it came. */
  readonly pass: string;
  /** Wall-clock time; 0 for `source`. */
  readonly milliseconds: number;
  /** True if the pass changed the program. */
  readonly isChanged: boolean;
}

/** A line of a program as text, or of the difference between two. */
export interface PassLine {
  /** The line; `…` stands for lines that are the same. */
  readonly text: string;
  /** In a difference: whether the pass took the line away (`-`) or added it (`+`). */
  readonly sign?: '-' | '+' | undefined;
  /** The place of the source that the line comes from, as `formatPlace` writes it. */
  readonly place?: string | undefined;
}
