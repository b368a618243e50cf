import { someOf } from '../core/check-options.ts';
import {
  DEFAULT_MACHINE_LIMITS,
  type MachineLimits,
  type ProgramLimits,
} from '../core/limits/program-limits.ts';

/** The largest encoded head of a message, in bytes: a tuple of some 100,000 fields. */
export const MAX_HEAD_BYTE_LENGTH = 4 * 2 ** 20;

/** The most that one side lets the other one take up, and the programs that it loads. */
export interface RpcLimits extends Required<ProgramLimits>, Required<MachineLimits> {
  /** Bytes that all programs of a connection hold on a device. */
  readonly byteBudget: number;
  /** Bytes of tensors in one message, and of all messages that arrive in pieces at one time. */
  readonly messageBytes: number;
  /** Tensors, functions and modules held for the other side; as many sessions and what they keep beside. */
  readonly handles: number;
  /** Calls of the other side that have not been answered. */
  readonly pending: number;
  /** Calls of the other side per second, over some seconds. */
  readonly callsPerSecond: number;
  /** Bytes that may wait for a slow reader before the connection ends. */
  readonly bufferedBytes: number;
  /** Executables loaded at one time. */
  readonly modules: number;
  /** Bytes of executables kept, so that they need not be shipped again. */
  readonly executableBytes: number;
  /** Runs that are debugged, traced or compared at one time. */
  readonly heldRuns: number;
  /** How long such a run stands still before it ends, in milliseconds. */
  readonly heldRunMs: number;
  /** How long the other side may take to prove that it knows the token. */
  readonly handshakeMs: number;
}

/** The limits where none are given. */
export const DEFAULT_RPC_LIMITS: RpcLimits = {
  messageBytes: 512 * 2 ** 20,
  handles: 65_536,
  pending: 4096,
  callsPerSecond: 50_000,
  bufferedBytes: 64 * 2 ** 20,
  modules: 256,
  executableBytes: 2 ** 30,
  heldRuns: 8,
  heldRunMs: 600_000,
  handshakeMs: 10_000,
  programKernels: 'allow',
  workgroupLimit: 2 ** 24,
  instructionLimit: 1e9,
  runTimeout: 600_000,
  byteBudget: 4 * 2 ** 30,
  deviceTimeout: 30_000,
  ...DEFAULT_MACHINE_LIMITS,
};

export const LIMITS = someOf(DEFAULT_RPC_LIMITS);
