import { attentionWasm } from '../attention/attention.wasm.ts';
import { convolutionKernel } from '../convolution/convolution.wasm.ts';
import { globalPoolKernel, poolKernel } from '../convolution/pool.wasm.ts';
import { loadDoubles } from '../formula/wasm/find-intrinsic.ts';
import { gemmProblem, type MatmulProblem, matmulProblem } from '../linear/matmul-problem.ts';
import { productKernel } from '../linear/product.wasm.ts';
import { transposeWasm } from '../movement/transpose.wasm.ts';
import { NORM_WASM } from '../normalization/normalization.wasm.ts';
import { REDUCE_WASM } from '../reduction/reduce.wasm.ts';
import { ofFloats, withHalves } from '../lowering/wasm-kernels.ts';
import type { WasmCall, WasmLowering } from '../lowering/wasm-lowering.ts';
import type { KernelOpName } from './kernel-ops.ts';

const floats = (lowering: WasmLowering): WasmLowering => withHalves(ofFloats(lowering));

const product = (problemOf: (call: WasmCall) => MatmulProblem): WasmLowering =>
  floats((call) => productKernel(problemOf(call)));

/** The core operators' kernels in WebAssembly, by name; elementwise ones are made of their formulas. */
const LOWERINGS = {
  matmul: product(matmulProblem),
  gemm: product(gemmProblem),
  conv2d: floats(convolutionKernel),
  conv3d: floats(convolutionKernel),
  max_pool: floats(poolKernel('max')),
  avg_pool: floats(poolKernel('mean')),
  sum_pool: floats(poolKernel('sum')),
  global_max_pool: withHalves(globalPoolKernel('max')),
  global_avg_pool: withHalves(globalPoolKernel('mean')),
  scaled_dot_product_attention: attentionWasm,
  ...NORM_WASM,
  ...REDUCE_WASM,
  transpose: transposeWasm,
  // Few programs need these: their kernels are in a file of their own.
  recurrent: 'rare',
  matmul_nbits: 'rare',
  gather_matmul_nbits: 'rare',
  matmul_integer: 'rare',
  conv_integer: 'rare',
  conv_transpose: 'rare',
  scatter_elements: 'rare',
  scatter_nd: 'rare',
  tensor_scatter: 'rare',
  cached_attention: 'rare',
  top_k: 'rare',
  cumulative: 'rare',
  resample: 'rare',
  batch_norm: 'rare',
  arg_max: 'rare',
  arg_min: 'rare',
} as const satisfies Partial<Record<KernelOpName, WasmLowering | 'rare'>>;

type Names = keyof typeof LOWERINGS;
/** Names of the operators of tables/rare-wasm.ts. */
type RareName = { [Name in Names]: (typeof LOWERINGS)[Name] extends 'rare' ? Name : never }[Names];

const BY_NAME: Readonly<Record<string, WasmLowering | 'rare' | undefined>> = LOWERINGS;

/** Loaded code, for all devices of the thread. */
let rare: Readonly<Record<RareName, WasmLowering>> | undefined;

/** Loads the kernels of some operators, where they are in a file of their own. */
export async function loadLowerings(names: Iterable<string>): Promise<void> {
  if (![...names].some((name) => BY_NAME[name] === 'rare')) return;
  // Recurrent cells may have any function.
  const [loaded] = await Promise.all([import('./rare-wasm.ts'), loadDoubles()]);
  rare = loaded.RARE_WASM_LOWERINGS;
}

/** How WebAssembly is made of an operator; those that are rare have to be loaded before. */
export function findLowering(name: string): WasmLowering | undefined {
  const lowering = BY_NAME[name];
  return lowering === 'rare' ? rare?.[name as RareName] : lowering;
}
