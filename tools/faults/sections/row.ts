/** One line of the table: what was promised, and what was seen. */
export interface Row {
  readonly title: string;
  readonly wanted: string;
  readonly got: string;
  readonly ok: boolean;
}

/** A part of the table; it throws only where it could not look at all. */
export type Section = () => Promise<readonly Row[]>;
