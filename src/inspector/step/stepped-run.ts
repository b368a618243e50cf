import type { DebugPlace, DebugRun } from '../../client/tools/debug-session.ts';
import type { Session } from '../../client/session.ts';
import type { Inputs } from '../../client/values/input-value.ts';
import type { DebugDetail, DebugMemory, DebugValue } from '../../worker/protocol/debug-order.ts';
import type { BreakpointChoice } from './breakpoint-choice.ts';

/** A register, or a part of its value. */
export interface ChosenValue {
  readonly register: number;
  readonly path: readonly number[];
}

/** The state of a stopped run, as far as it is shown. */
export interface SeenState {
  readonly place: DebugPlace;
  /** The frame that is looked at, 0 the innermost. */
  readonly frame: number;
  readonly registers: readonly DebugValue[];
  readonly memory: DebugMemory | undefined;
  readonly chosen: ChosenValue | undefined;
  readonly detail: DebugDetail | undefined;
}

/** A debugging run with what is seen of it where it stands. */
export class SteppedRun {
  readonly #run: DebugRun;
  readonly #breakpoints: BreakpointChoice;
  /** The furthest place that the run was at, in instructions. */
  furthest = 0;

  private constructor(run: DebugRun, breakpoints: BreakpointChoice) {
    this.#run = run;
    this.#breakpoints = breakpoints;
  }

  static async start(
    session: Session,
    inputs: Inputs,
    breakpoints: BreakpointChoice,
  ): Promise<SteppedRun> {
    return new SteppedRun(await session.debug(inputs), breakpoints);
  }

  /** Carries a command out. */
  async go(command: Exclude<StepCommand, 'pause' | 'stop'> | number): Promise<DebugPlace> {
    const run = this.#run;
    const place = await (typeof command === 'number' ? run.seek(command) : run[command]());
    this.furthest = Math.max(this.furthest, place.executed);
    return place;
  }

  /** Rejects with UsageError for a name that the program does not have; the others hold all the same. */
  async setBreakpoints(): Promise<void> {
    const set = async (): Promise<void> =>
      this.#breakpoints.resolved(await this.#run.setBreakpoints(this.#breakpoints.all));
    try {
      await set();
    } catch (error) {
      this.#breakpoints.dropUnknown();
      await set();
      throw error;
    }
  }

  pause(): Promise<void> {
    return this.#run.pause();
  }

  close(): Promise<void> {
    return this.#run.close();
  }

  get place(): DebugPlace {
    return this.#run.place;
  }

  /**
   * Reads the state in a frame. After the end and after an error there are no registers any more.
   */
  async look(frame: number, chosen: ChosenValue | undefined): Promise<SeenState> {
    const { place } = this;
    const stands = place.reason !== 'end' && place.reason !== 'error';
    if (!stands) {
      return {
        place,
        frame: 0,
        registers: [],
        memory: undefined,
        chosen: undefined,
        detail: undefined,
      };
    }
    const [registers, memory] = await Promise.all([this.#run.registers(frame), this.#run.memory()]);
    const isHeld = registers.some(({ index }) => index === chosen?.register);
    if (chosen === undefined || !isHeld) {
      return { place, frame, registers, memory, chosen: undefined, detail: undefined };
    }
    // The value may be another one by now, without such a part.
    const detail = await this.#run
      .value(chosen.register, { frame, path: chosen.path })
      .catch(() => undefined);
    return { place, frame, registers, memory, chosen, detail };
  }
}

/** Commands that a person gives a run. */
export type StepCommand =
  | 'continue'
  | 'pause'
  | 'stepOver'
  | 'step'
  | 'stepOut'
  | 'stepBack'
  | 'stop';

/** The commands in the order of their buttons, with their keys: those that debuggers have. */
export const STEP_COMMANDS: readonly {
  readonly command: StepCommand;
  readonly name: string;
  readonly key: string;
}[] = [
  { command: 'continue', name: 'Continue', key: 'F5' },
  { command: 'pause', name: 'Pause', key: 'F6' },
  { command: 'stepBack', name: 'Step back', key: 'F8' },
  { command: 'stepOver', name: 'Step over', key: 'F10' },
  { command: 'step', name: 'Step into', key: 'F11' },
  { command: 'stepOut', name: 'Step out', key: 'Shift+F11' },
  { command: 'stop', name: 'Stop', key: 'Shift+F5' },
];

/** The command that a key gives. */
export function commandOf(event: KeyboardEvent): StepCommand | undefined {
  if (event.ctrlKey || event.altKey || event.metaKey) return undefined;
  const key = event.shiftKey ? `Shift+${event.key}` : event.key;
  return STEP_COMMANDS.find((each) => each.key === key)?.command;
}
