export * from '../compiler/index.ts';
export { compileOnnx } from './onnx/compile-onnx.ts';
export {
  compileOnnxAsync,
  type CompileOnnxAsyncOptions,
  type CompileOnnxOptions,
  compileSmallOnnx,
} from './onnx/compile-onnx-async.ts';
export { loadExternalData } from './onnx/model/external-data.ts';
export type {
  NodeAttributes,
  NodeAttributeValue,
  NodeOutput,
  NodeSignature,
  NodeTensor,
  NodeType,
  NodeTypes,
} from '../core/contracts/node-function.ts';
export type { TypeOfNode } from './onnx/functions/node-types.ts';
export { importOnnx, type ImportOptions } from './onnx/import-onnx.ts';
export type { Importer, Importers, OnnxAttributes, OnnxNode } from './onnx/importers.ts';
export type { ByteRange, ExternalDataReader } from './onnx/protobuf/external-data.ts';
export { type Decoder, generationModule } from './decoders/generation-module.ts';
export { textModule, type TextModuleOptions } from './decoders/text-module.ts';
export type { Quantization } from './decoders/weight-quantizer.ts';
export { gradOnnx, type TrainingProgram } from './training/grad-onnx.ts';
export { exportOnnx, type NamedTensors } from './training/export-onnx.ts';
export type { Setting, TrainingOptions } from './training/training-options.ts';
export { observeOnnx } from './quantize/observe-onnx.ts';
export { SampleMoments } from './quantize/samples/sample-moments.ts';
export { quantizeOnnx, type QuantizedOnnx } from './quantize/quantize-onnx.ts';
export type { QuantizeOptions, WeightBits } from './quantize/quantize-options.ts';
export type { KeptNode, QuantizedLayer } from './quantize/quantized-layer.ts';
