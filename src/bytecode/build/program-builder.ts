import { requireKind } from '../../core/check-options.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { UsageError } from '../../core/errors.ts';
import { HOST_TENSOR, type HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import { sameShape, type Shape } from '../../core/tensor/shape.ts';
import { builtinSignature } from '../builtins.ts';
import {
  assemble,
  type Assembled,
  type Draft,
  type DraftConstant,
  type DraftFunction,
} from './draft.ts';
import type { FunctionSignature, ProgramTypes, ShapeProgram, ShapeStep } from '../executable.ts';
import { formalize } from './formalize.ts';
import {
  FunctionBuilder,
  type FunctionContext,
  type FunctionOperand,
  type Operand,
} from './function-builder.ts';
import { resolveEntry } from './resolve-entry.ts';
import { verifyExecutable } from '../verify/verify.ts';

type TensorDraft = Extract<DraftConstant, { readonly kind: 'tensor' }>;

/** Constants by content: adding an equal one gives the number of the first. */
class ConstantPool {
  readonly constants: DraftConstant[] = [];
  readonly #scalars = new Map<string, number>();
  /** Numbers of the tensors with one hash; equality is decided by their bytes. */
  readonly #tensors = new Map<number, number[]>();
  /** Numbers of tensors that came before, by device. */
  readonly #known = new Map<HostTensor, Map<string | undefined, number>>();
  readonly #deduplicate: boolean;

  constructor(deduplicate: boolean) {
    this.#deduplicate = deduplicate;
  }

  add(constant: DraftConstant): number {
    if (!this.#deduplicate) return this.constants.push(constant) - 1;
    if (constant.kind === 'tensor') return this.#addTensor(constant);
    // String() would make -0 equal to 0.
    const value = Object.is(constant.value, -0) ? '-0' : JSON.stringify(String(constant.value));
    const key = `${constant.kind} ${value}`;
    const known = this.#scalars.get(key);
    if (known !== undefined) return known;
    const index = this.constants.push(constant) - 1;
    this.#scalars.set(key, index);
    return index;
  }

  #addTensor(constant: TensorDraft): number {
    const { tensor, device } = constant;
    const numbers = this.#known.get(tensor) ?? new Map<string | undefined, number>();
    this.#known.set(tensor, numbers);
    const known = numbers.get(device);
    if (known !== undefined) return known;
    // Of a tensor that is not in memory nothing is read: it is equal to itself only.
    const index = tensor.isLazy ? this.constants.push(constant) - 1 : this.#addContent(constant);
    numbers.set(device, index);
    return index;
  }

  #addContent(constant: TensorDraft): number {
    const { tensor, device } = constant;
    const hash = hashBytes(elementBytes(tensor));
    const candidates = this.#tensors.get(hash) ?? [];
    for (const index of candidates) {
      const candidate = this.constants[index];
      if (candidate?.kind !== 'tensor' || candidate.device !== device) continue;
      if (!candidate.tensor.isLazy && sameTensor(candidate.tensor, tensor)) return index;
    }
    const index = this.constants.push(constant) - 1;
    this.#tensors.set(hash, [...candidates, index]);
    return index;
  }
}

function elementBytes({ elements }: HostTensor): Uint8Array {
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}

function sameTensor(a: HostTensor, b: HostTensor): boolean {
  if (a.dtype !== b.dtype || a.isSplat !== b.isSplat || !sameShape(a.shape, b.shape)) return false;
  const x = elementBytes(a);
  const y = elementBytes(b);
  return x.length === y.length && x.every((byte, i) => byte === y[i]);
}

/** FNV-1a, 32 bits; over a sample of large tensors, since equality is checked anyway. */
function hashBytes(bytes: Uint8Array): number {
  const stride = Math.max(1, Math.floor(bytes.length / 65_536));
  let hash = 0x811c9dc5 ^ bytes.length;
  for (let i = 0; i < bytes.length; i += stride) {
    hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  }
  return hash;
}

/** How a program is built. */
export interface ExecBuilderOptions {
  /**
   * Keep every register number, constant and function reference as given, without `formalize` and
   * without merging equal constants. What `toTypeScript()` writes needs it to give the same bytes.
   */
  readonly exact?: boolean;
}

/** Builds a program as {@link ExecBuilder} does, for callers that need no {@link Executable}. */
export class ProgramBuilder {
  /** Warnings, of what is suspicious but allowed: inputs that are never used. Filled when the program is assembled. */
  readonly warnings: string[] = [];
  readonly #exact: boolean;
  readonly #constants: ConstantPool;
  readonly #functions: FunctionBuilder[] = [];
  readonly #names: string[] = [];
  readonly #references = new Map<string, number>();
  readonly #primitives: PrimitiveFunction[] = [];
  readonly #shapePrograms: ShapeProgram[] = [];
  #types: ProgramTypes | undefined;
  readonly #metadata = new Map<string, string>();
  readonly #context: FunctionContext;

  constructor({ exact = false }: ExecBuilderOptions = {}) {
    this.#exact = exact;
    this.#constants = new ConstantPool(!exact);
    this.#context = {
      intConstant: (value) => this.int(value),
      functionReference: (name) => this.functionReference(name),
      returnsVoid: ({ value }) => this.#returnsVoid(this.#names[value] ?? ''),
      functionName: (index) => this.#names[index] ?? `f[${index}]`,
      warn: (message) => this.warnings.push(message),
    };
  }

  /** Starts a function. Functions may be built side by side and may call those that come later. */
  function(
    name: string,
    params: readonly string[] = [],
    options: { readonly signature?: FunctionSignature } = {},
  ): FunctionBuilder {
    requireKind('ExecBuilder.function', 'text', ['the name', name]);
    requireKind('ExecBuilder.function', 'names', ['parameters', params]);
    const builder = new FunctionBuilder(this.#context, name, { params, ...options });
    this.#functions.push(builder);
    return builder;
  }

  /**
   * A function as an operand: the callee of a call, or an argument. The name may be that of a
   * function or primitive of this executable, declared before or after, else of a packed function.
   */
  functionReference(name: string): FunctionOperand {
    requireKind('ExecBuilder', 'text', ['a function named', name]);
    const known = this.#references.get(name);
    if (known !== undefined) return { kind: 'function', value: known };
    const index = this.#names.push(name) - 1;
    this.#references.set(name, index);
    return { kind: 'function', value: index };
  }

  /** Adds a primitive function and gives the reference to call it by. */
  primitive(primitive: PrimitiveFunction): FunctionOperand {
    this.definePrimitive(primitive);
    return this.functionReference(primitive.name);
  }

  /** Adds a primitive function that calls name, if anything calls it. */
  definePrimitive(primitive: PrimitiveFunction): void {
    this.#primitives.push(primitive);
  }

  /** Adds a shape program and gives its number, an immediate operand of `compute_shape`. */
  shapeProgram(steps: readonly ShapeStep[]): number {
    return this.#shapePrograms.push({ steps }) - 1;
  }

  /** Sets the types of the program in full, for callers and for functions of JavaScript. */
  types(types: ProgramTypes): void {
    this.#types = types;
  }

  /** Adds a fact about the program, such as its producer. */
  metadata(key: string, value: string): void {
    this.#metadata.set(key, value);
  }

  /**
   * A tensor constant; a splat is stored as one element. It lies on the session's device, or on the
   * host for primitives that run there.
   */
  tensor(tensor: HostTensor, device?: 'host'): Operand {
    requireKind('ExecBuilder.tensor', HOST_TENSOR, ['what is', tensor]);
    return this.#constant({ kind: 'tensor', tensor, ...(device === undefined ? {} : { device }) });
  }

  /** A constant that is a shape. */
  shape(value: Shape): Operand {
    requireKind('ExecBuilder', 'shape', ['a shape', value]);
    return this.#constant({ kind: 'shape', value: [...value] });
  }

  /** A constant that is a text. */
  string(value: string): Operand {
    requireKind('ExecBuilder', 'text', ['a string', value]);
    return this.#constant({ kind: 'string', value });
  }

  /** An int constant, for integers that do not fit an immediate. Throws UsageError unless safe. */
  int(value: number): Operand {
    if (!Number.isSafeInteger(value)) {
      throw new UsageError({ where: 'int constant', got: `${value}`, expected: 'a safe integer' });
    }
    return this.#constant({ kind: 'int', value: value + 0 });
  }

  /** A constant that is a float of the host. */
  float(value: number): Operand {
    return this.#constant({ kind: 'float', value });
  }

  /** A constant that is a dtype. */
  dtype(value: DType): Operand {
    requireKind('ExecBuilder', 'dtype', ['dtype', value]);
    return this.#constant({ kind: 'dtype', value });
  }

  /** Checks every function, formalizes, and verifies. The builder can go on. Throws VerifyError. */
  assemble(): Assembled {
    this.warnings.length = 0;
    const draft = this.#draft(this.#functions.map((fn) => fn.finish()));
    const assembled = assemble(this.#exact ? draft : formalize(draft));
    verifyExecutable(assembled.program);
    return assembled;
  }

  #draft(functions: readonly DraftFunction[]): Draft {
    const bytecodeNames = new Set(functions.map(({ name }) => name));
    const primitiveNames = new Set(this.#primitives.map(({ name }) => name));
    const functionTable = this.#names.map((name) =>
      resolveEntry(name, bytecodeNames, primitiveNames),
    );
    return {
      functions,
      functionTable,
      constants: this.#constants.constants,
      primitives: this.#primitives,
      shapePrograms: this.#shapePrograms,
      ...(this.#types !== undefined && { types: this.#types }),
      metadata: Object.fromEntries(this.#metadata),
    };
  }

  #returnsVoid(name: string): boolean {
    const primitive = this.#primitives.find((candidate) => candidate.name === name);
    if (primitive !== undefined) return !returnsTensor(primitive);
    return builtinSignature(name)?.result === 'void';
  }

  #constant(constant: DraftConstant): Operand {
    return { kind: 'constant', value: this.#constants.add(constant) };
  }
}
