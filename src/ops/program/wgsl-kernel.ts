import { type OpDefinition, tensor } from '../define-op.ts';
import { isDType } from '../../core/tensor/dtype.ts';
import { formatDim } from '../../core/dims/dim.ts';
import { internalError, ShapeError, UnsupportedError } from '../../core/errors.ts';
import type { Attributes, PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { dimsAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { shortList } from '../../core/short-list.ts';
import { type LoweringCall, type KernelSpec, u32 } from '../lowering/lowering.ts';
import { formatType } from '../operand-checks.ts';

/** The operator that a program calls to run WGSL of its own. */
export const WGSL_KERNEL = 'wgsl_kernel';

const DEFAULT_NAME = 'kernel';

/** One of eight buffers is the result. */
const MAX_INPUTS = 7;

/**
 * A kernel that the program brings along. The text is WGSL with an entry point `main`. It reads
 * element i of its inputs with `load_a(i)`, `load_b(i)`, … and writes the result with
 * `store(i, value)`, which convert from and to what is stored; `params.NAME` is the size that `sizes`
 * has at the place of NAME in `params`, a u32; `WORKGROUP_SIZE_X`, `_Y` and `_Z` are constants.
 *
 * With `alternative` the last input is what the kernel computes, made of other operators: the host
 * takes it, and WebGPU never computes it. Without, the host refuses the kernel.
 */
export const wgslKernel: OpDefinition<typeof WGSL_KERNEL> = {
  name: WGSL_KERNEL,
  kind: 'anchor',
  inputs: [tensor('inputs', ['float32', 'float16', 'int32', 'uint32', 'bool'], { variadic: true })],
  attributes: {
    name: { type: 'string', default: DEFAULT_NAME },
    code: { type: 'string' },
    shape: { type: 'dims' },
    dtype: { type: 'dtype' },
    grid: { type: 'dims', length: 3, minimum: 0 },
    workgroup: { type: 'ints', length: 3, minimum: 1 },
    params: { type: 'strings', default: [] },
    sizes: { type: 'dims', default: [], minimum: 0 },
    alternative: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    const { dtype, alternative } = attributes;
    const where = `kernel ${kernelName(attributes)}`;
    checkParams(where, attributes);
    checkLimits(where, inputs.length - (alternative === true ? 1 : 0), attributes);
    if (typeof dtype !== 'string' || !isDType(dtype)) throw internalError('dtype is checked');
    const shape = dimsAttribute(attributes, 'shape').map((dim) => dims.of(dim));
    const other = alternative === true ? inputs.at(-1) : undefined;
    if (alternative === true && other === undefined) {
      throw new ShapeError({ where, got: 'no inputs', expected: 'the alternative as the last' });
    }
    if (other !== undefined) {
      if (other.dtype !== dtype || other.shape.length !== shape.length) {
        const expected = `${formatType({ dtype, shape })}, as the kernel gives`;
        throw new ShapeError({ where: `${where}: alternative`, got: formatType(other), expected });
      }
      for (const [axis, dim] of shape.entries()) {
        const actual = other.shape[axis] ?? dim;
        dims.requireEqual(dim, actual, () => ({
          where: `${where}: alternative, axis ${axis}`,
          got: formatDim(actual),
          expected: `${formatDim(dim)}, as the kernel gives`,
        }));
      }
    }
    return { dtype, shape };
  },
  lower,
  tolerance: { rtol: 0, atol: 0 },
};

const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]*$/;

/** The name that a kernel has in messages and profiles. */
export function kernelName({ name }: Attributes): string {
  return typeof name === 'string' ? name : DEFAULT_NAME;
}

/** Limits that every WebGPU adapter allows. */
function checkLimits(where: string, inputCount: number, attributes: Attributes): void {
  if (inputCount > MAX_INPUTS) {
    const expected = `at most ${MAX_INPUTS}: WebGPU binds eight buffers to a kernel`;
    throw new ShapeError({ where, got: `${inputCount} inputs`, expected });
  }
  const workgroup = intsAttribute(attributes, 'workgroup');
  const [x = 1, y = 1, z = 1] = workgroup;
  if (x * y * z <= 256 && z <= 64) return;
  throw new ShapeError({
    where: `${where}: attribute workgroup`,
    got: workgroup.join(' x '),
    expected: 'at most 256 invocations, 64 of them in z',
  });
}

function checkParams(where: string, { params, sizes }: Attributes): void {
  const names: readonly unknown[] = Array.isArray(params) ? params : [];
  const count = Array.isArray(sizes) ? sizes.length : 0;
  const wrong = names.find((name) => typeof name !== 'string' || !IDENTIFIER.test(name));
  if (names.length === count && wrong === undefined && new Set(names).size === count) return;
  throw new ShapeError({
    where: `${where}: attribute params`,
    got: JSON.stringify(names),
    expected: `${count} different identifiers, one for each of the sizes`,
  });
}

function lower({ inputs, attributes }: LoweringCall): readonly KernelSpec[] {
  const [x = 0, y = 0, z = 0] = intsAttribute(attributes, 'grid');
  const [sizeX = 1, sizeY = 1, sizeZ = 1] = intsAttribute(attributes, 'workgroup');
  const names = dimsAttribute(attributes, 'params').map(String);
  const sizes = intsAttribute(attributes, 'sizes');
  const kernel: KernelSpec = {
    name: kernelName(attributes),
    source: stringAttribute(attributes, 'code'),
    constants: {},
    params: Object.fromEntries(names.map((name, i) => [name, u32(sizes[i] ?? 0)])),
    workgroupSize: [sizeX, sizeY, sizeZ],
    workgroups: [x, y, z],
    reads: inputs.map((_, index) => ({
      hook: String.fromCharCode(97 + index),
      from: { kind: 'input', index },
      width: 1,
    })),
    writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
  };
  return [kernel];
}

/** Names of the kernels that a primitive brings along. */
export function programKernels({ body }: PrimitiveFunction): readonly string[] {
  const calls = body.filter(({ op }) => op === WGSL_KERNEL);
  return calls.map(({ attributes }) => kernelName(attributes));
}

/** Throws UnsupportedError when primitives bring kernels along. */
export function refuseProgramKernels(primitives: readonly PrimitiveFunction[]): void {
  const names = primitives.flatMap(programKernels);
  if (names.length === 0) return;
  throw new UnsupportedError(
    {
      got: `a program with WGSL of its own (${shortList(names)})`,
      expected: 'one without: programKernels is "refuse"',
      remedy: 'Load programs that you trust with programKernels: "allow".',
    },
    { details: { kernels: names } },
  );
}
