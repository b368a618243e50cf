import type { HandleId, SessionId } from './reply.ts';
import type { WireResult, WireValue } from './wire-value.ts';

/** Where results go, or the names of those that stay on the device. */
export type Keep = 'host' | 'device' | readonly string[];

export interface RunRequest {
  readonly session: SessionId;
  readonly functionName: string;
  /** The function that the page holds and calls, in place of one by name. */
  readonly callee?: HandleId | undefined;
  /** Arguments in the order of the function's parameters. */
  readonly args: readonly WireValue[];
  /** Where the results stay. Default `host`. */
  readonly keep?: Keep | undefined;
  /** Names of parameters whose tensors on the device the run takes over. */
  readonly donate?: readonly string[] | undefined;
  /** Memory that results may come in. */
  readonly room?: readonly ArrayBuffer[];
}

/** One kernel launch of a profiled run. */
export interface KernelProfile {
  /** Name of the primitive function. */
  readonly primitive: string;
  /** Name of the shader, or of the operator on the host. */
  readonly label: string;
  /** Workgroups of the launch along x, y and z. */
  readonly workgroups: readonly [number, number, number];
  /** Undefined where the adapter has no timestamps. */
  readonly durationMs: number | undefined;
}

export interface WireProfile {
  readonly results: readonly WireResult[];
  readonly kernels: readonly KernelProfile[];
  /** From the call until the device is idle. */
  readonly totalMs: number;
  readonly instructions: number;
}
