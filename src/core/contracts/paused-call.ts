/** An instruction of a bytecode function, counted from 0 as listings do. */
export interface CodePlace {
  readonly function: string;
  /** The number of the instruction, from 0. */
  readonly instruction: number;
}

/** A call that is paused: the function called from outside, and what its last frame runs next. */
export interface PausedCall {
  /** The function that was called from outside. */
  readonly entry: string;
  /** The instruction that its last frame runs next. */
  readonly at: CodePlace;
  /** Frames of its stack. */
  readonly depth: number;
}

/** Where and how a session pauses. */
export interface PauseOptions {
  /** Pause when a call comes to this instruction, which it has not run then. Holds once. */
  readonly at?: CodePlace | undefined;
  /** With `at`: how many times calls come there before it pauses. Default 1: the first. */
  readonly visit?: number | undefined;
  /** Stops waiting; calls go on, and the pause rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}
