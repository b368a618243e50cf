import type { Module } from '../compiler/ir/expr.ts';
import type { ImportOptions } from './onnx/import-onnx.ts';
import type { ExternalRange } from './onnx/protobuf/external-data.ts';

/** How models of one format are read. All of it throws FormatError for bytes that are no model. */
export interface ModelFormat {
  /** The module of a model, within the budget in force. Throws as `importOnnx` does. */
  readonly importWithin: (bytes: Uint8Array, options: ImportOptions) => Module;
  /** Where the parts of a model lie that are in other files, each place once. */
  readonly externalRanges: (bytes: Uint8Array) => readonly ExternalRange[];
}
