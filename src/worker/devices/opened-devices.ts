import type { ExecutableData } from '../../bytecode/executable.ts';
import type { ProgramLimits } from '../../core/limits/program-limits.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import type { RunObserver } from '../host/hosted-session.ts';
import type { LoadedProgram } from '../host/loaded-program.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { CreateMachine } from '../sharing/shared-session.ts';
import type { PooledOptions, SharedDevice } from './device-pool.ts';
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

/** Options of a session that its devices depend on. */
export type FitOptions = PooledOptions & Pick<ProgramLimits, 'byteBudget'>;

/** Where sessions get their devices. */
export interface DeviceSource {
  /** Devices of a session, to release in the end. Rejects with DeviceError where there is no such device. */
  open(wanted: DeviceKind | 'auto', options: PooledOptions): Promise<OpenedDevices>;
  /** The devices that a program needs in place of those that were opened; see `fitDevices`. */
  fit<T extends OpenedDevices>(
    devices: T,
    options: FitOptions,
    executable: ExecutableData,
  ): Promise<T>;
  /** Returns true if a device that was opened has work. */
  isBusy(): boolean;
}

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
  readonly observer?: RunObserver | undefined;
}
