import type { OperatorTable } from '../../ops/operator.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { LoadedProgram } from '../host/loaded-program.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { CreateMachine } from '../sharing/shared-session.ts';
import type { SharedDevice } from './device-pool.ts';
import type { SessionDevices } from '../host/shared-use.ts';

/** The device of a session, and what decided; see `SessionDevice`. */
export interface MainDevice {
  readonly main: SharedDevice;
  readonly reason: string;
  readonly fallbackReason?: string | undefined;
  /** Chooses again, knowing the program. Takes over the devices: those that it does not return go back. */
  readonly decide?: (opened: OpenedDevices, load: DecidedLoad) => Promise<DecidedDevices>;
}

export type OpenedDevices = SessionDevices & MainDevice;

/** A program about to be loaded. */
export interface DecidedLoad {
  readonly program: LoadedProgram;
  readonly request: LoadRequest;
  readonly createMachine: CreateMachine;
  /** Default: the core operators. */
  readonly operators?: OperatorTable | undefined;
}

export interface DecidedDevices extends OpenedDevices {
  /** The program, some of whose data is kept as it passes. */
  readonly program?: LoadedProgram | undefined;
  /** Hears of the session on these devices. */
  readonly loaded?: ((hosted: HostedSession) => void) | undefined;
}
