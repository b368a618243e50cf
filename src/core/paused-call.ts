/** An instruction of a bytecode function, counted from 0 as listings do. */
export interface CodePlace {
  readonly function: string;
  readonly instruction: number;
}

/** A call that is paused: the function called from outside, and what its last frame runs next. */
export interface PausedCall {
  readonly entry: string;
  readonly at: CodePlace;
  /** Frames of its stack. */
  readonly depth: number;
}

export interface PauseOptions {
  /** Pause when a call comes to this instruction, which it has not run then. Holds once. */
  readonly at?: CodePlace | undefined;
  /** With `at`: how many times calls come there before it pauses. Default 1: the first. */
  readonly visit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}
