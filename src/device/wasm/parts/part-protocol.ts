/** Messages to a thread that has a memory of its own. */
export type ToPart =
  | { readonly kind: 'ping' }
  | { readonly kind: 'load'; readonly id: number; readonly module: WebAssembly.Module }
  | { readonly kind: 'unload'; readonly id: number }
  | { readonly kind: 'keep'; readonly id: number; readonly bytes: ArrayBuffer }
  | { readonly kind: 'drop'; readonly id: number }
  | PartRequest;

/** Asks a thread to do some units of a step. */
export interface PartRequest {
  readonly kind: 'run';
  readonly id: number;
  /** The number of the module, and the function's index in it. */
  readonly module: number;
  readonly index: number;
  readonly operands: readonly PartOperand[];
  readonly first: number;
  readonly end: number;
  /** Which operand is the result. */
  readonly output: number;
  /** The bytes of the result to send back: begin and length of each run. */
  readonly runs: Int32Array<ArrayBuffer>;
  /** A buffer to send these bytes back in; undefined: a new one is made. */
  readonly room: ArrayBuffer | undefined;
}

/** Memory whose address a function gets; `skipped` bytes in front of what is there are not needed. */
export type PartOperand =
  | { readonly kind: 'kept'; readonly id: number; readonly skipped: number }
  | { readonly kind: 'bytes'; readonly bytes: ArrayBuffer; readonly skipped: number }
  | { readonly kind: 'room'; readonly byteLength: number }
  | { readonly kind: 'absent' };

export const bytesOf = (operands: readonly PartOperand[]): ArrayBuffer[] =>
  operands.flatMap((operand) => (operand.kind === 'bytes' ? [operand.bytes] : []));

/** Messages from such a thread. `done` without bytes: the thread could not do its part. */
export type FromPart =
  /** The thread has started, or got a `ping`. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'done';
      readonly id: number;
      readonly bytes: ArrayBuffer | undefined;
      /** Those of the operands, to be filled again. */
      readonly spares: readonly ArrayBuffer[];
    };

/** The way to such a thread. */
export interface PartThread {
  post(message: ToPart, transfer?: readonly ArrayBuffer[]): void;
  terminate(): void;
}

interface PartEvents {
  readonly onMessage: (message: FromPart) => void;
  /** Called when the thread could not be started, or ended. */
  readonly onError: () => void;
}

/** Starts a thread that serves with a `PartServer`; undefined where there are none. */
export type StartPart = (events: PartEvents) => PartThread | undefined;
