import { UnsupportedError } from '../../../core/errors.ts';
import type { LaunchBinding, LaunchBuffer } from '../../../core/contracts/launch-plan.ts';
import { type KernelConstant, type KernelParam, u32 } from '../../../ops/lowering/lowering.ts';
import { wgslLiteral } from '../../../ops/lowering/wgsl-literal.ts';

/** Index maps of index maps make text that grows with every one. */
const MAX_NAME_COUNT = 8192;

/**
 * Collects the pieces of one shader module: constants, parameters, bindings, declarations and
 * functions. The text depends on structure alone: names are numbered in order of use and values of
 * parameters stay out, so that another shape of the same structure gives equal text.
 */
export class ShaderBuilder {
  /** True if shaders may hold binary16 in memory (the extension `f16`). */
  readonly hasFloat16: boolean;
  readonly #enables = new Set<string>();
  readonly #constants: string[] = [];
  readonly #paramNames: string[] = [];
  readonly #paramTypes: KernelParam['type'][] = [];
  readonly #paramWords: number[] = [];
  readonly #bindings: LaunchBinding[] = [];
  readonly #bindingNames = new Map<string, string>();
  readonly #bindingLines: string[] = [];
  readonly #declarations = new Map<string, string>();
  readonly #functions: string[] = [];
  #nameCount = 0;

  constructor(hasFloat16 = false) {
    this.hasFloat16 = hasFloat16;
  }

  enable(extension: string): void {
    this.#enables.add(`enable ${extension};`);
  }

  /** Throws UnsupportedError for a number that its type does not have. */
  constant(name: string, value: KernelConstant): void {
    const [type, text] = typeof value === 'boolean' ? ['bool', value] : numberOf(name, value);
    this.#constants.push(`const ${name}: ${type} = ${text};`);
  }

  alias(name: string, type: string): void {
    this.#constants.push(`alias ${name} = ${type};`);
  }

  /** Adds a field to `params` and returns the expression that reads it. */
  param(value: number, type: KernelParam['type'], name = `p${this.#paramNames.length}`): string {
    this.#paramNames.push(name);
    this.#paramTypes.push(type);
    this.#paramWords.push(wordOf(value, type));
    return `params.${name}`;
  }

  /**
   * Binds a buffer as an array of a WGSL type and returns its variable; the same buffer and type
   * share one binding.
   */
  bind(buffer: LaunchBuffer, type: string, access: LaunchBinding['access']): string {
    const key = `${buffer.kind} ${buffer.index} ${type} ${access}`;
    const known = this.#bindingNames.get(key);
    if (known !== undefined) return known;
    this.#bindings.push({ buffer, access });
    const name = `buffer${this.#bindings.length}`;
    this.#bindingNames.set(key, name);
    this.#bindingLines.push(
      `@group(0) @binding(${this.#bindings.length}) var<storage, ${access}> ${name}: array<${type}>;`,
    );
    return name;
  }

  /** Adds a module-scope declaration once. */
  declare(name: string, text: string): void {
    this.#declarations.set(name, text);
  }

  addFunction(text: string): void {
    this.#functions.push(text);
  }

  /** A name that nothing else in the module has. */
  /** Throws UnsupportedError when the shader grows beyond what compilers take in good time. */
  uniqueName(prefix: string): string {
    if (this.#nameCount < MAX_NAME_COUNT) return `${prefix}${this.#nameCount++}`;
    throw new UnsupportedError({
      where: 'shader',
      got: `more than ${MAX_NAME_COUNT} computed values`,
      expected: 'fewer',
      remedy: 'Cut the primitive into several.',
    });
  }

  get bindings(): readonly LaunchBinding[] {
    return this.#bindings;
  }

  get params(): Uint32Array {
    return Uint32Array.from(this.#paramWords);
  }

  /** The module's text: prelude, hooks, then the hand-written or generated source. */
  code(source: string): string {
    const fields = this.#paramNames.map((name, i) => `  ${name}: ${this.#paramTypes[i]},`);
    const uniform =
      fields.length === 0
        ? []
        : ['struct Params {', ...fields, '}', '@group(0) @binding(0) var<uniform> params: Params;'];
    return [
      ...this.#enables,
      ...this.#constants,
      ...uniform,
      ...this.#bindingLines,
      // The source of a kernel may bring a function that what is fused to it calls too.
      ...[...this.#declarations.values()].filter((text) => !source.includes(text)),
      ...this.#functions,
      source,
    ].join('\n');
  }
}

const DTYPES = { f32: 'float32', i32: 'int32', u32: 'uint32' } as const;

/** The type and the text of a constant. */
function numberOf(name: string, constant: number | KernelParam): [string, string] {
  const { type, value } = typeof constant === 'number' ? u32(constant) : constant;
  const fits =
    type === 'f32'
      ? Number.isFinite(Math.fround(value))
      : (type === 'i32' ? value | 0 : value >>> 0) === value;
  if (fits) return [type, wgslLiteral(value, DTYPES[type], 1)];
  throw new UnsupportedError({
    where: `constant ${name}`,
    got: String(value),
    expected: `a number that ${type} has`,
    remedy: 'Give it a type: f32(0.5), i32(-1).',
  });
}

const scratchWord = new DataView(new ArrayBuffer(4));

function wordOf(value: number, type: KernelParam['type']): number {
  if (type === 'f32') scratchWord.setFloat32(0, value);
  else if (type === 'i32') scratchWord.setInt32(0, value);
  else scratchWord.setUint32(0, value);
  return scratchWord.getUint32(0);
}
