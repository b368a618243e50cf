export * from '../compiler/index.ts';
export { compileOnnx } from './onnx/compile-onnx.ts';
export { importOnnx, type ImportOptions } from './onnx/import-onnx.ts';
