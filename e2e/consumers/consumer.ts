import type { Lab } from './lab.ts';

/** An environment in which somebody uses the package. */
export interface Consumer {
  readonly name: string;
  /** Needs the bundlers or runtimes of this folder's package.json. */
  readonly isHeavy?: boolean;
  /** Resolves to what was seen; rejects when it does not hold. */
  readonly run: (lab: Lab) => Promise<string>;
}
