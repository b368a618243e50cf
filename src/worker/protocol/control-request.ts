import type { DrawnElements } from '../../core/tensor/drawn-elements.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import type { GpuBufferLike, PageGpuBuffer } from '../../core/contracts/gpu-like.ts';
import type { PauseOptions, PausedCall } from '../../core/contracts/paused-call.ts';
import type { PictureSource } from '../../core/pictures/picture-source.ts';
import type { PictureSteps } from '../../core/pictures/picture-steps.ts';
import type { RegionSteps } from '../../core/pictures/sample-region.ts';
import type { Rectangle } from '../../core/pictures/rectangle.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type {
  OperatorDeparture,
  RunComparison,
  ValueDeparture,
} from '../../runtime/compare/compare-runs.ts';
import type { ValueRange } from '../../runtime/compare/measure-ranges.ts';
import type { TracedPlace } from '../../runtime/compare/trace-run.ts';
import type { Keep } from './run-request.ts';
import type { WireResult, WireValue } from './wire-value.ts';

export type { KernelTuning, TriedVariant } from '../../device/device.ts';
export type { OperatorDeparture, RunComparison, TracedPlace, ValueDeparture, ValueRange };

/** `args` are the values that go with it: of a snapshot, what is stored beside the runs. */
export type ControlRequest = {
  readonly args: readonly WireValue[];
} /** Asks a tool that looks inside, by its name. */ & (
  | { readonly kind: 'tool'; readonly tool: string; readonly request: object }
  | ({ readonly kind: 'pause' } & Omit<PauseOptions, 'signal'>)
  | { readonly kind: 'continue' }
  /** The program without its weights, as the head of a `.weft` file. */
  | { readonly kind: 'program' }
  | {
      readonly kind: 'snapshot';
      /** The names of `args`, in the same order. */
      readonly names: readonly string[];
      readonly note: string;
      /** Pauses the session for the time of it; otherwise it must be paused. */
      readonly pausing: boolean;
      /** It stays in the worker, for `keep`. The `note` of the reply is its hash. */
      readonly isHeld?: boolean | undefined;
    }
  /** Saves the snapshot that is held in the store of this name in the private file system of the origin. */
  | { readonly kind: 'keep'; readonly store: string }
  | { readonly kind: 'restore'; readonly bytes: Uint8Array }
  /** The result of a run that a snapshot held, once. */
  | { readonly kind: 'result'; readonly index: number; readonly keep: Keep }
  /** Makes one tensor of pictures, on the device; in a session that shares it, unless `keep` says so, for the page. */
  | {
      readonly kind: 'prepare';
      readonly pictures: readonly PreparedPicture[];
      readonly dtype: DType;
      readonly shape: Shape;
      readonly keep?: 'device' | undefined;
    }
  /** Makes a tensor of each of some regions of a picture; where they go is as for `prepare`. */
  | {
      readonly kind: 'sample';
      readonly source: PictureSource;
      readonly regions: readonly RegionSteps[];
    }
  /** Holds a picture under a number that the page chose, for what it asks then. */
  | { readonly kind: 'hold'; readonly picture: number; readonly source: PictureSource }
  /** Pixels of a held picture, [rows, columns, 3] each: in rectangles, or of all of it. */
  | {
      readonly kind: 'pixels';
      readonly picture: number;
      readonly rectangles?: readonly Rectangle[] | undefined;
    }
  /** Frees a picture that is held. */
  | { readonly kind: 'drop'; readonly picture: number }
  /** Makes a tensor of a buffer of the page's, which stays where it is. In the page's thread alone, on the device that it brought. */
  | ({ readonly kind: 'adopt'; readonly buffer: GpuBufferLike } & TensorPlace)
  /** The buffer of the GPU that the tensor in `args` lies in. There too. */
  | { readonly kind: 'expose' }
  /** Draws the tensor in `args`. */
  | { readonly kind: 'draw'; readonly elements: DrawnElements }
);

/** A picture, or one that is held, and what becomes of it. */
export interface PreparedPicture {
  readonly source: PictureSource | HeldSource;
  /** The part of the picture to prepare. Default: all of it. */
  readonly part?: Rectangle | undefined;
  readonly steps: PictureSteps;
}

/** The number of a picture that the session holds. */
interface HeldSource {
  readonly held: number;
}

/** Where a tensor lies in a buffer. */
interface TensorPlace {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly byteOffset: number;
}

/** The part of a buffer of the GPU that a tensor lies in. */
export interface GpuRange {
  /** Made by Weft on the page's device, with STORAGE, COPY_SRC and COPY_DST; or the page's own that the tensor was made of. */
  readonly buffer: PageGpuBuffer;
  /** The offset of the first element in the buffer. */
  readonly byteOffset: number;
  /** How many bytes they take, in whole words. */
  readonly byteLength: number;
}

export interface ControlReply {
  readonly calls: readonly PausedCall[];
  /** The bytes of a snapshot (uint8), what was stored beside the runs, or results of a run. */
  readonly results: readonly WireResult[];
  readonly note: string;
  /** What a tool found. */
  readonly answer?: unknown;
  /** The place in a buffer of the tensor that was asked for. */
  readonly range?: GpuRange | undefined;
  readonly bitmap?: ImageBitmap | undefined;
}
