import type * as weft from '../../../src/client/index.ts';

/** What `page/index.html` makes global, and what is kept there. */
export interface PeerPage {
  importLiteRt(): Promise<LiteRtPackage>;
  importWeft(): Promise<typeof weft>;
  liteRt?: Promise<LiteRt>;
}

/** What the package is documented to have. */
interface LiteRtPackage {
  loadLiteRt(folder: string): Promise<LiteRt>;
  loadAndCompile(model: string, options: object): Promise<LiteRtModel>;
  readonly Tensor: new (data: Float32Array, shape: readonly number[]) => LiteRtTensor;
}

export interface LiteRtModel {
  run(inputs: readonly LiteRtTensor[]): Promise<readonly LiteRtTensor[]>;
  delete(): void;
}

interface LiteRtTensor {
  data(): Promise<Float32Array>;
  delete(): void;
}

/** The part of @litertjs/core 2.5 that is used here; most of it are bindings of its wasm. */
interface LiteRt {
  readonly liteRtWasm: LiteRtWasm;
  getDefaultEnvironment(): Environment;
}

interface Environment {
  readonly liteRtEnvironment: object;
}

export interface Vector<Element> {
  size(): number;
  get(index: number): Element;
}

interface TensorType {
  bytes(): number;
  elementType(): { readonly value: number };
  layout(): { dimensions(): Vector<number> };
}

interface TensorBuffer {
  lock(mode: object): number;
  unlock(): void;
  tensorType(): TensorType;
  delete(): void;
}

interface BoundModel {
  getSignature(index: number): { inputNames(): Vector<string>; outputNames(): Vector<string> };
  getInputTensorType(signature: number, index: number): TensorType;
  delete(): void;
}

export interface CompiledModel {
  run(signature: number, inputs: readonly TensorBuffer[]): Promise<readonly TensorBuffer[]>;
  isFullyAccelerated(): boolean;
  delete(): void;
}

interface LiteRtWasm {
  readonly HEAPU8: Uint8Array;
  readonly LiteRtTensorBufferType: { readonly HOST_MEMORY: object };
  readonly LiteRtTensorBufferLockMode: { readonly READ: object; readonly WRITE: object };
  readonly LiteRtTensorBuffer: {
    createManaged(
      environment: object,
      place: object,
      type: TensorType,
      byteLength: number,
    ): TensorBuffer;
  };
  _malloc(byteLength: number): number;
  _free(pointer: number): void;
  loadModel(environment: object, pointer: number, byteLength: number): BoundModel;
  compileModel(environment: object, model: BoundModel, options: object): Promise<CompiledModel>;
}
