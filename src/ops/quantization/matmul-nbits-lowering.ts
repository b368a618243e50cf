import type { PlannerCaps } from '../../core/launch-plan.ts';
import { decodingMatmulKernels, wholeMatmulKernels } from '../linear/matmul-lowering.ts';
import { type Decoding, unroll } from '../linear/register-tile.ts';
import { type KernelRead, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { type NbitsProblem, nbitsProblem } from './matmul-nbits-problem.ts';
import { ABSENT } from './subtract-zero-points.ts';
import { plainProblem } from '../linear/matmul-problem.ts';
import { readInput } from '../element-kernel.ts';

/** Kernels of `matmul_nbits`: those of float matrices, with a B that is made as it is loaded. */
export function lowerMatmulNbits(call: LoweringCall): readonly KernelSpec[] {
  return nbitsKernels(nbitsProblem(call), call.caps);
}

function blockReads({ zeros }: NbitsProblem): KernelRead[] {
  return [readInput('scale', 2), ...(zeros === 'none' ? [] : [readInput('zero', 3)])];
}

function blockParams({ blocks, blockSize, zeroBytes }: NbitsProblem): KernelSpec['params'] {
  return {
    blocks: u32(blocks),
    block_size: u32(blockSize),
    zero_bytes: u32(zeroBytes),
  };
}

/** WGSL for the code that stands for zero in a block. */
function zeroPoint({ zeros, bits }: NbitsProblem): string {
  const each = 8 / bits;
  const values = {
    none: `${2 ** (bits - 1)}`,
    floats: 'load_zero(column * params.blocks + block)',
    packed: `Element((load_zero(column * params.zero_bytes + block / ${each}u) >> (block % ${each}u * ${bits}u)) & ${2 ** bits - 1}u)`,
  };
  return `fn zero_point(column: u32, block: u32) -> Element {
  return ${values[zeros]};
}
`;
}

function nbitsKernels(problem: NbitsProblem, caps: PlannerCaps): readonly KernelSpec[] {
  const { m, n, k, bits, blocks, blockSize } = problem;
  const each = 8 / bits;
  const b = { batch: [0, 0], row: 1, column: blocks * blockSize };
  const product = { ...plainProblem({ m, n, k }), b };
  const step = blockSize % 32 === 0 ? 32 : 16;
  const isDecoded = m <= 4 && k % step === 0;
  const kernels = isDecoded
    ? decodingMatmulKernels(product, wordDecoding(bits, step), caps)
    : wholeMatmulKernels(product, caps);
  const load = `${zeroPoint(problem)}fn load_b(i: u32) -> Element {
  let block = i / params.block_size;
  let column = block / params.blocks;
  let code = (load_codes(i / ${each}u) >> (i % ${each}u * ${bits}u)) & ${2 ** bits - 1}u;
  return (Element(code) - zero_point(column, block % params.blocks)) * load_scale(block);
}
`;
  const loadFour = `${zeroPoint(problem)}fn load_b4(i: u32) -> Element4 {
  let bytes = load_codes4(i * ${bits}u / 8u);
  let word = bytes.x | (bytes.y << 8u) | (bytes.z << 16u) | (bytes.w << 24u);
  let shifts = i * ${bits * 4}u % 32u + vec4<u32>(0u, ${bits}u, ${bits * 2}u, ${bits * 3}u);
  let block = i * 4u / params.block_size;
  let zero = zero_point(block / params.blocks, block % params.blocks);
  return (Element4((vec4<u32>(word) >> shifts) & vec4<u32>(${2 ** bits - 1}u)) - zero) * load_scale(block);
}
`;
  return kernels.map((kernel) => {
    const isVector =
      isDecoded || kernel.reads.some(({ hook, width }) => hook === 'b' && width === 4);
    return {
      ...kernel,
      source: (isDecoded ? zeroPoint(problem) : isVector ? loadFour : load) + kernel.source,
      params: { ...kernel.params, ...blockParams(problem) },
      reads: [
        ...kernel.reads.filter(({ hook }) => hook === 'a'),
        readInput('codes', 1, isVector ? 4 : 1),
        readInput('c', ABSENT),
        ...blockReads(problem),
      ],
    };
  });
}

/**
 * Whole words of codes of one block, whose scale and zero point are loaded once. The words are a loop,
 * which takes software adapters a quarter of the time to compile.
 */
function wordDecoding(bits: number, step: number): Decoding {
  const each = 8 / bits;
  const codes = 32 / bits;
  return {
    step,
    addProducts(rows, vectors) {
      const columns = (line: (q: number) => string) => unroll(vectors * 4, line);
      // Codes of a slot lie in different bytes.
      const element = (r: number, i: number) => `a${r}_${i >> 2}[${i & 3}]`;
      const ofSlot = (r: number, slot: number) =>
        `Element4(${unroll(4, (j) => element(r, j * each + slot), ', ')})`;
      const decoded = (slot: number) =>
        `Element4((codes >> vec4<u32>(${slot * bits}u)) & vec4<u32>(${2 ** bits - 1}u)) - zero`;
      return `${columns(
        (q) => `  let block${q} = columns[${q}] / params.block_size + k / params.block_size;
  let zero${q} = zero_point(block${q} / params.blocks, block${q} % params.blocks);
${unroll(rows, (r) => `  var sum${r}_${q} = Element();`)}`,
      )}
  for (var i = k / ${codes}u; i < (k + STEP) / ${codes}u; i++) {
${unroll(rows, (r) => unroll(codes / 4, (j) => `    let a${r}_${j} = load_a4(starts[${r}] / 4u + i * ${codes / 4}u + ${j}u);`))}
${columns(
  (q) => `    {
      let codes = load_codes4(columns[${q}] / ${codes}u + i);
      let zero = zero${q};
${unroll(each, (slot) => `      let d${slot} = ${decoded(slot)};`)}
${unroll(rows, (r) => `      sum${r}_${q} += ${unroll(each, (slot) => `dot(d${slot}, ${ofSlot(r, slot)})`, ' + ')};`)}
    }`,
)}
  }
${columns((q) => `  let scale${q} = load_scale(block${q});`)}
${unroll(rows * vectors, (i) => {
  const [r, first] = [Math.floor(i / vectors), (i % vectors) * 4];
  return `  (*tile)[${i}] += Element4(${unroll(4, (q) => `sum${r}_${first + q} * scale${first + q}`, ', ')});`;
})}`;
    },
  };
}
