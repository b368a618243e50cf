/** Modules below src of which files of the worker are made that load on demand. */
export const WEBGPU = 'worker/devices/open-webgpu.ts';
export const WASM = 'worker/devices/open-wasm.ts';
export const HOST = 'device/host/prepare-host-kernels.ts';
export const RARE = ['ops/tables/rare-wasm.ts', 'ops/formula/wasm/double-intrinsics.ts'];
export const COMPILER = [
  'frontend/onnx/compile-in-turns.ts',
  'worker/compile/compile-model.ts',
  'worker/compile/compile-service.ts',
];
/** Reads models of TensorFlow Lite, besides the compiler. */
export const TFLITE = 'frontend/tflite/import-tflite.ts';
/** Reads models of TensorFlow.js, besides the compiler. */
export const TFJS = 'frontend/tfjs/import-tfjs.ts';
/** Passes that load when a program needs them. */
export const PASSES = [
  'expand-compositions.ts',
  'expand-training.ts',
  'gradient/gradient.ts',
  'choose-layouts/choose-layouts.ts',
  'dispatch-by-shape/dispatch-by-shape.ts',
  'rematerialize/rematerialize.ts',
].map((path) => `compiler/passes/${path}`);
/** Modules that read and compile language models, besides the compiler. */
export const TEXT = [
  'worker/sources/load-files.ts',
  'worker/compile/compile-text-order.ts',
  'frontend/decoders/compile-text-files.ts',
];

/** Read tokenizers and templates, in a thread of their own. */
export const READER = [
  'serve-reader.ts',
  'bounded-tokenizer.ts',
  'jinja-template.ts',
  'gguf-model-folder.ts',
].map((path) => `frontend/decoders/reader/${path}`);
/** Look inside a session. */
export const TOOLS = ['debug', 'timeline', 'trace', 'verify', 'tune'].map(
  (name) => `worker/tools/${name}-session.ts`,
);

type Modules = string | readonly string[];

/** None of these fetches another's file: what two of them need has a file of its own, `devices`. */
export const APART: readonly (readonly Modules[])[] = [
  [WEBGPU, WASM, HOST],
  [WASM, COMPILER],
  [WEBGPU, COMPILER],
  [WEBGPU, RARE],
];
