import type { BenchDevice, Targets } from './bench-case.ts';

const WEBGPU_CONV = { onnxruntime: 10, tensorflow: 6 };
const WEBGPU_ROWS = { onnxruntime: 6, tensorflow: 6 };
const WEBGPU_COLD = 4;

const WASM_MATMUL = { onnxruntime: 1.3, tensorflow: 1.3, jax: 1.3 };
const WASM_CONV = { onnxruntime: 1.5, tensorflow: 1.3, jax: 1.3 };
const WASM_ROWS = { onnxruntime: 1.5, tensorflow: 2, jax: 2 };
const WASM_BITS = { onnxruntime: 1.5, tensorflow: 1.5, jax: 1.5 };
/** No model may lose by private memories. */
const APART = 0.97;
const WASM_MODEL = { onnxruntime: 1.3, cold: 1.3, oneThread: { apart: APART } };
const WASM_COLD = { ...WASM_MODEL, cold: 3 };
/** Of the multiply-adds in registers, for one thread. */
const CEILING = 0.75;

/** The targets by the cases' names. A case is measured on the devices that have targets for it. */
export const TARGETS: Readonly<Record<BenchDevice, Readonly<Record<string, Targets>>>> = {
  webgpu: {
    'matmul-256': { onnxruntime: 8, tensorflow: 8, cold: WEBGPU_COLD },
    'matmul-512': { onnxruntime: 8, tensorflow: 8 },
    'matmul-1024': { onnxruntime: 8, tensorflow: 8 },
    'matvec-4096': { onnxruntime: 20, tensorflow: 20 },
    'conv-3x3': WEBGPU_CONV,
    'conv-depthwise': WEBGPU_CONV,
    'conv-1x1': WEBGPU_CONV,
    softmax: WEBGPU_ROWS,
    'layer-norm': WEBGPU_ROWS,
    'row-sums': WEBGPU_ROWS,
    transpose: { onnxruntime: 50, tensorflow: 50 },
    'add-4m': { onnxruntime: 1.6, tensorflow: 1.6 },
    'chain-16': { onnxruntime: 4, tensorflow: 6 },
    'matmuls-200': { onnxruntime: 8, tensorflow: 100 },
    encoder: { onnxruntime: 8, cold: WEBGPU_COLD },
    'squeezenet-coreml': { onnxruntime: 8, cold: WEBGPU_COLD },
    'ultraface-rfb-320': { onnxruntime: 8, cold: WEBGPU_COLD },
    'light-resnet50': { onnxruntime: 8, cold: WEBGPU_COLD },
    'mnist-cntk': { onnxruntime: 6, cold: WEBGPU_COLD },
    'bert-toy': { onnxruntime: 6, cold: WEBGPU_COLD },
    'gpt2-past-tiny': { onnxruntime: 6, cold: WEBGPU_COLD },
    'silero-vad-v6-16k-op15': { onnxruntime: 6, cold: WEBGPU_COLD },
  },
  wasm: {
    'matmul-256': WASM_MATMUL,
    'matmul-512': { ...WASM_MATMUL, ceiling: CEILING },
    'matmul-1024': { ...WASM_MATMUL, ceiling: CEILING, oneThread: { isolated: 1.7, apart: 1.5 } },
    'matmul-512-int8': { float32: 1.2 },
    'matmul-1024-int8': { float32: 1.2 },
    'matvec-4096': { onnxruntime: 1.2, tensorflow: 1.5, jax: 1.5 },
    'matvec-4096-8bit': WASM_BITS,
    'matvec-4096-4bit': WASM_BITS,
    'conv-3x3': WASM_CONV,
    'conv-depthwise': WASM_CONV,
    'conv-1x1': WASM_CONV,
    softmax: WASM_ROWS,
    'layer-norm': WASM_ROWS,
    'row-sums': WASM_ROWS,
    transpose: WASM_ROWS,
    'add-4m': WASM_ROWS,
    'chain-16': { onnxruntime: 3, tensorflow: 4, jax: 4 },
    'matmuls-200': { onnxruntime: 3, tensorflow: 10, jax: 10 },
    encoder: { onnxruntime: 1.3 },
    'squeezenet-coreml': { ...WASM_COLD, oneThread: { isolated: 1.3, apart: APART } },
    'mnist-cntk': WASM_COLD,
    'bert-toy': WASM_COLD,
  },
};

/** Of models that have no targets of their own; a device without them runs those alone that have. */
export const MODEL_TARGETS: Readonly<Partial<Record<BenchDevice, Targets>>> = { wasm: WASM_MODEL };
