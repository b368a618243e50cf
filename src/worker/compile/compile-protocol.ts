import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import type { RatesOfBoth } from '../../core/contracts/device-rates.ts';
import type { ErrorData } from '../../core/errors.ts';
import type { NodeOutput } from '../../core/contracts/node-function.ts';
import type { PassLine, PassStep } from '../../core/contracts/pass-step.ts';
import type { Dims, Dispatch } from '../protocol/dispatch-sizes.ts';
import type { PageNodeTypes } from '../protocol/load-request.ts';
import type { WorkerFiles } from '../protocol/session-service.ts';
import type { FilesSource, TextModelOptions } from '../protocol/wire-source.ts';
import type { WireSignature } from '../protocol/wire-value.ts';

/** A model to compile, for whichever thread does it. */
export interface CompileOrder {
  readonly bytes: Uint8Array;
  /** The name of a module of the IR in JSON, which the bytes then are. */
  readonly module?: string | undefined;
  /** The address of the model, beside which files with its tensors lie. */
  readonly url: string | undefined;
  /** The kept files among which the model is, where files are kept. */
  readonly files?: FilesSource | undefined;
  readonly dims: Dims;
  readonly dispatch?: Dispatch | undefined;
  readonly devices?: readonly ['webgpu', 'wasm'] | undefined;
  /** Speeds of these devices, by which the parts of the model are placed. */
  readonly rates?: RatesOfBoth | undefined;
  readonly compileLimits?: CompileLimits | undefined;
  readonly check?: 'indices' | undefined;
  /** Functions of the page that compute nodes. */
  readonly nodeTypes?: PageNodeTypes | undefined;
}

/** A language model to compile, whose files that thread reads. */
export interface TextOrder {
  readonly model: FilesSource & { readonly text: TextModelOptions };
  readonly compileLimits?: CompileLimits | undefined;
}

/** Gives the types of the outputs of a node. */
export type AskType = (node: WireSignature) => Promise<readonly NodeOutput[]>;

/** From a session's thread to the one that compiles for it: an order, then what it wants next. */
export type ToCompiler =
  | {
      readonly kind: 'compile';
      readonly order: CompileOrder | TextOrder;
      readonly files: WorkerFiles | undefined;
    }
  | { readonly kind: 'next block' }
  /** To compile a model, or a program in text form, and tell what each pass made of it. */
  | {
      readonly kind: 'passes';
      readonly model: Uint8Array | string;
      /** The name of a text in places. */
      readonly file: string;
      /** The address of the model, beside which files with its tensors lie. */
      readonly url: string | undefined;
      readonly dims: Dims;
      readonly files: WorkerFiles | undefined;
    }
  /** Asks for the program after a step: whole, or as the difference from the step before. */
  | { readonly kind: 'pass'; readonly step: number; readonly isWhole: boolean }
  /** The answer to a question for a type. */
  | { readonly kind: 'type'; readonly outputs: readonly NodeOutput[] }
  | { readonly kind: 'no type'; readonly error: ErrorData };

export type FromCompiler =
  /** Messages are read from now on. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  /** Bytes of a model that the thread reads. */
  | { readonly kind: 'download'; readonly loaded: number; readonly total: number }
  /** A question for the type of a node; the next one comes after the answer. */
  | { readonly kind: 'type'; readonly node: WireSignature }
  /** The place in the model at which the compiler works. */
  | { readonly kind: 'place'; readonly place: string }
  /** The program without its data. */
  | { readonly kind: 'compiled'; readonly program: ExecutableData }
  /** Undefined after the last one. */
  | { readonly kind: 'block'; readonly block: DataBlock | undefined }
  | { readonly kind: 'passes'; readonly steps: readonly PassStep[] }
  | { readonly kind: 'pass'; readonly lines: readonly PassLine[] }
  | { readonly kind: 'failed'; readonly error: ErrorData };
