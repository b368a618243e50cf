import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { decodingMatmulKernels, wholeMatmulKernels } from '../linear/matmul-lowering.ts';
import { addFourSteps, type Decoding, unroll } from '../linear/register-tile.ts';
import { type KernelRead, type KernelSpec, type LoweringCall, u32 } from '../lowering/lowering.ts';
import { gatheredNbitsProblem, type NbitsProblem, nbitsProblem } from './matmul-nbits-problem.ts';
import { ABSENT } from './subtract-zero-points.ts';
import { plainProblem } from '../linear/matmul-problem.ts';
import { readInput } from '../lowering/element-kernel.ts';

/** Kernels of `matmul_nbits`: those of float matrices, with a B that is made as it is loaded. */
export function lowerMatmulNbits(call: LoweringCall): readonly KernelSpec[] {
  return nbitsKernels(nbitsProblem(call), call.caps);
}

/** Kernels of `gather_matmul_nbits`: a batch of single rows, each of which has the matrix that its index names. */
export function lowerGatherMatmulNbits(call: LoweringCall): readonly KernelSpec[] {
  return nbitsKernels(gatheredNbitsProblem(call), call.caps);
}

function blockReads({ zeros, matrices }: NbitsProblem): KernelRead[] {
  const indices = matrices === undefined ? [] : [readInput('matrix', 3)];
  const place = 3 + indices.length;
  return [
    readInput('scale', 2),
    ...indices,
    ...(zeros === 'none' ? [] : [readInput('zero', place)]),
  ];
}

const MATRIX_OF = `fn matrix_of(batch: u32) -> u32 {
  return u32(clamp(load_matrix(batch), 0, i32(params.matrices) - 1));
}
`;

function blockParams({
  blocks,
  blockSize,
  zeroBytes,
  matrices,
}: NbitsProblem): KernelSpec['params'] {
  return {
    ...(matrices !== undefined && { matrices: u32(matrices) }),
    blocks: u32(blocks),
    block_size: u32(blockSize),
    zero_bytes: u32(zeroBytes),
  };
}

/** WGSL for the code that stands for zero in a block of the column whose blocks begin at `first`. */
function zeroPoint({ zeros, bits }: NbitsProblem): string {
  const each = 8 / bits;
  const values = {
    none: `${2 ** (bits - 1)}`,
    floats: 'load_zero(first + block)',
    packed: `Element((load_zero(first / params.blocks * params.zero_bytes + block / ${each}u) >> (block % ${each}u * ${bits}u)) & ${2 ** bits - 1}u)`,
  };
  return `fn zero_point(first: u32, block: u32) -> Element {
  return ${values[zeros]};
}
`;
}

function nbitsKernels(problem: NbitsProblem, caps: PlannerCaps): readonly KernelSpec[] {
  const { n, k, bits, blocks, blockSize, matrices } = problem;
  const isGathered = matrices !== undefined;
  const m = isGathered ? 1 : problem.m;
  const each = 8 / bits;
  const step = blockSize % 32 === 0 ? 32 : 16;
  const isWhole = k % step === 0;
  const isFew = isWhole && m <= 4;
  const column = blocks * blockSize;
  const plain = { ...plainProblem({ m, n, k }), b: { batch: [0, 0], row: 1, column } };
  const product = isGathered
    ? {
        ...plain,
        gathers: true,
        batch: [1, problem.m],
        a: { ...plain.a, batch: [0, k] },
        // As columns are counted: in blocks where these are decoded, else in elements.
        b: { ...plain.b, batch: [0, n * (isFew ? blocks : column)] },
      }
    : plain;
  const decoding = { step, column: blocks, addProducts: addDecoded(problem, isFew) };
  const kernels = isFew
    ? decodingMatmulKernels(product, decoding, caps)
    : wholeMatmulKernels(product, caps, isWhole ? decoding : undefined);
  const load = `fn load_b(i: u32) -> Element {
  let all = i / params.block_size;
  let block = all % params.blocks;
  let code = (load_codes(i / ${each}u) >> (i % ${each}u * ${bits}u)) & ${2 ** bits - 1}u;
  return (Element(code) - zero_point(all - block, block)) * load_scale(all);
}
`;
  const loadFour = `fn load_b4(i: u32) -> Element4 {
  let word = load_codes4(i * ${bits}u / 8u);
  let shifts = i * ${bits * 4}u % 32u + vec4<u32>(0u, ${bits}u, ${bits * 2}u, ${bits * 3}u);
  let all = i * 4u / params.block_size;
  let block = all % params.blocks;
  let zero = zero_point(all - block, block);
  return (Element4((vec4<u32>(word) >> shifts) & vec4<u32>(${2 ** bits - 1}u)) - zero) * load_scale(all);
}
`;
  return kernels.map((kernel) => {
    const isDecoded = isFew || (isWhole && kernel.name === 'matmul-tile');
    const isVector =
      isDecoded || kernel.reads.some(({ hook, width }) => hook === 'b' && width === 4);
    const codes = isVector ? { ...readInput('codes', 1, 4), asWord: true } : readInput('codes', 1);
    return {
      ...kernel,
      source:
        (isGathered ? MATRIX_OF : '') +
        zeroPoint(problem) +
        (isDecoded ? '' : isVector ? loadFour : load) +
        kernel.source,
      params: { ...kernel.params, ...blockParams(problem) },
      reads: [
        ...kernel.reads.filter(({ hook }) => hook === 'a'),
        codes,
        readInput('c', ABSENT),
        ...blockReads(problem),
      ],
    };
  });
}

/**
 * Whole words of codes of one block, whose scale and zero point are loaded once. The words are a loop,
 * which takes software adapters a quarter of the time to compile. Of few rows sums are scaled, of more the elements.
 */
function addDecoded({ bits, blockSize }: NbitsProblem, isFew: boolean): Decoding['addProducts'] {
  const codes = 32 / bits;
  return (tile) => {
    const { rows, vectors } = tile;
    const columns = (line: (q: number) => string) => unroll(vectors * 4, line);
    const four = (q: number, group: number) =>
      `(Element4(${fourCodes(`word${q}`, { bits, group })}) - zero${q})`;
    const groups = (line: (group: number) => string) => unroll(codes / 4, line);
    const few = (
      group: number,
    ) => `${unroll(rows, (r) => `    let a${r}_${group} = load_a4(starts[${r}] + i * ${codes / 4}u + ${group}u);`)}
${columns(
  (q) => `    let d${q}_${group} = ${four(q, group)};
${unroll(rows, (r) => `    sum${r}_${q} += dot(d${q}_${group}, a${r}_${group});`)}`,
)}`;
    const many = (group: number) => `    {
${addFourSteps(
  columns((q) => `      let c${q >> 2}_${q & 3} = ${four(q, group)} * scale${q};`),
  tile,
  { group: `i * ${codes / 4}u + ${group}u` },
)}
    }`;
    const sums = columns((q) => unroll(rows, (r) => `  var sum${r}_${q} = Element();`));
    const scaled = unroll(rows * vectors, (i) => {
      const [r, first] = [Math.floor(i / vectors), (i % vectors) * 4];
      return `  (*tile)[${i}] += Element4(${unroll(4, (q) => `sum${r}_${first + q} * scale${first + q}`, ', ')});`;
    });
    return `  let block = k / params.block_size;
${columns(
  (q) => `  let zero${q} = zero_point(columns[${q}], block);
  let scale${q} = load_scale(columns[${q}] + block);
  let words${q} = columns[${q}] * ${blockSize / codes}u;`,
)}
${isFew ? sums : ''}
  for (var i = k / ${codes}u; i < (k + STEP) / ${codes}u; i++) {
${columns((q) => `    let word${q} = load_codes4(words${q} + i);`)}
${groups(isFew ? few : many)}
  }
${isFew ? scaled : ''}`;
  };
}

/**
 * An expression of four codes of a word. They are brought down by a product of floats, which is exact: SwiftShader shifts lane by
 * lane, in the time of fourteen additions, and converts signed integers in a third of the time of others.
 */
function fourCodes(
  word: string,
  { bits, group }: { readonly bits: number; readonly group: number },
): string {
  const shifts = [0, 1, 2, 3].map((i) => (group * 4 + i) * bits);
  const codes = shifts.map((shift) => {
    const masked = `${word} & ${(2 ** bits - 1) * 2 ** shift}u`;
    return `f32(${shift + bits === 32 ? masked : `i32(${masked})`})`;
  });
  return `vec4<f32>(${codes.join(', ')}) * vec4<f32>(${shifts.map((shift) => 2 ** -shift).join(', ')})`;
}
