import type {
  Breakpoint,
  DebugDetail,
  DebugMemory,
  DebugStop,
  DebugValue,
  SetBreakpoint,
} from '../../runtime/debug/debug-types.ts';

export type * from '../../runtime/debug/debug-types.ts';

/** A command to a debugging run, or a question about it. */
export type DebugOrder =
  | {
      readonly do:
        | 'start'
        | 'step'
        | 'stepOver'
        | 'stepOut'
        | 'stepBack'
        | 'continue'
        | 'pause'
        | 'memory'
        | 'close';
    }
  | { readonly do: 'seek'; readonly executed: number }
  | { readonly do: 'setBreakpoints'; readonly breakpoints: readonly Breakpoint[] }
  | { readonly do: 'registers'; readonly frame: number }
  | {
      readonly do: 'value';
      readonly frame: number;
      readonly register: number;
      readonly path: readonly number[];
    };

/** The answer to an order; a field for each kind of answer. */
export interface DebugReply {
  readonly stop?: DebugStop;
  readonly breakpoints?: readonly SetBreakpoint[];
  readonly registers?: readonly DebugValue[];
  readonly value?: DebugDetail;
  readonly memory?: DebugMemory;
}
