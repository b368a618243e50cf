import fc from 'fast-check';
import { DIM_OPERATORS, type Dim } from '../../core/dims/dim.ts';
import { ALL_DTYPES, dtypeInfo } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import type {
  AttributeValue,
  PrimitiveFunction,
  TensorType,
} from '../../core/contracts/primitive-function.ts';
import type { SourcePlace } from '../../core/contracts/source-place.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { ExecBuilder } from '../build/exec-builder.ts';
import type {
  DataType,
  FullType,
  FunctionSignature,
  NamedFunctionType,
  ShapeStep,
  ValueType,
} from '../executable.ts';
import type { Executable } from '../file/executable-file.ts';
import type { FunctionBuilder, Operand, RegisterOperand } from '../build/function-builder.ts';

/** Random valid executables for property tests: made by the builder, of every kind of content. */
export function arbitraryExecutable(): fc.Arbitrary<Executable> {
  return fc
    .record({
      metadata: fc.dictionary(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,5}$/), text, {
        maxKeys: 2,
      }),
      constants: fc.array(constant, { maxLength: 6 }),
      primitives: fc.array(primitive, { maxLength: 2 }),
      programs: fc.array(fc.array(dim, { maxLength: 2 }), { maxLength: 2 }),
      functions: fc.array(functionRecipe, { minLength: 1, maxLength: 3 }),
    })
    .map(build);
}

const text = fc.string({ unit: 'binary', maxLength: 8 });
const name = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.$]{0,6}$/),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
);
const dtype = fc.constantFrom(...ALL_DTYPES);
const shape = fc.array(fc.nat({ max: 4 }), { maxLength: 3 });
const { dim } = fc.letrec<{ dim: Dim; expression: Dim }>((tie) => ({
  dim: fc.oneof(
    { maxDepth: 3 },
    fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    fc.constantFrom('n', 'batch_size', '?', 'max', 'height * 2', 'inf'),
    tie('expression'),
  ),
  expression: fc.record({
    op: fc.constantFrom(...DIM_OPERATORS),
    left: tie('dim'),
    right: tie('dim'),
  }),
}));
const tensorType: fc.Arbitrary<TensorType> = fc.record({
  dtype,
  shape: fc.array(dim, { maxLength: 3 }),
});
const valueType: fc.Arbitrary<ValueType> = fc.oneof(
  tensorType.map((type): ValueType => ({ kind: 'tensor', ...type })),
  fc.constantFrom<ValueType>({ kind: 'int' }, { kind: 'float' }, { kind: 'any' }),
);

const { fullType } = fc.letrec<{ fullType: FullType }>((tie) => ({
  fullType: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    valueType,
    fc.constant<FullType>({ kind: 'shape' }),
    text.filter((name) => name !== '').map((name): FullType => ({ kind: 'type-param', name })),
    fc
      .array(tie('fullType'), { maxLength: 3 })
      .map((fields): FullType => ({ kind: 'tuple', fields })),
    tie('fullType').map((arg): FullType => ({ kind: 'adt', name: LIST.name, args: [arg] })),
    fc
      .record({ params: fc.array(tie('fullType'), { maxLength: 2 }), result: tie('fullType') })
      .map((parts): FullType => ({ kind: 'function', ...parts })),
  ),
}));

const LIST: DataType = {
  name: 'a list',
  params: ['A'],
  constructors: [
    {
      name: 'Cons',
      tag: 0,
      fields: [
        { kind: 'type-param', name: 'A' },
        { kind: 'adt', name: 'a list', args: [{ kind: 'type-param', name: 'A' }] },
      ],
    },
    { name: 'Nil', tag: 1, fields: [] },
  ],
};

/** Tensors of random bits: NaN payloads, -0, subnormals and all. */
const tensor = fc
  .record({
    dtype,
    shape,
    isSplat: fc.boolean(),
    seed: fc.uint8Array({ minLength: 8, maxLength: 64 }),
  })
  .map(({ dtype, shape, isSplat, seed }) => {
    const count = isSplat ? 1 : elementCount(shape);
    const byteLength = count * dtypeInfo(dtype).byteLength;
    const bytes = Uint8Array.from({ length: byteLength }, (_, i) => seed[i % seed.length] ?? 0);
    const { elements } = HostTensor.fromBytes(dtype, [count], bytes);
    return new HostTensor(dtype, shape, elements, isSplat);
  });

type AddConstant = (b: ExecBuilder) => Operand;

const constant: fc.Arbitrary<AddConstant> = fc.oneof(
  tensor.map(
    (value): AddConstant =>
      (b) =>
        b.tensor(value),
  ),
  shape.map(
    (value): AddConstant =>
      (b) =>
        b.shape(value),
  ),
  text.map(
    (value): AddConstant =>
      (b) =>
        b.string(value),
  ),
  fc.maxSafeInteger().map(
    (value): AddConstant =>
      (b) =>
        b.int(value),
  ),
  fc.double().map(
    (value): AddConstant =>
      (b) =>
        b.float(value),
  ),
  dtype.map(
    (value): AddConstant =>
      (b) =>
        b.dtype(value),
  ),
);

const attribute: fc.Arbitrary<AttributeValue> = fc.oneof<fc.Arbitrary<AttributeValue>[]>(
  fc.double(),
  text,
  fc.boolean(),
  fc.array(fc.double(), { maxLength: 3 }),
  fc.array(text, { maxLength: 3 }),
  fc.tuple(dim, fc.constantFrom<Dim>(1, { op: 'add', left: 'n', right: 2 }), fc.constant('m')),
);

const primitive = fc.record({
  name,
  params: fc.array(tensorType, { maxLength: 3 }),
  body: fc.array(
    fc.record({
      op: fc.constantFrom('conv2d', 'relu', 'add'),
      inputs: fc.array(fc.integer({ min: -1, max: 20 }), { maxLength: 3 }),
      attributes: fc.dictionary(fc.stringMatching(/^[a-z][a-z_0-9]{0,5}$/), attribute, {
        maxKeys: 3,
      }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  results: fc.array(fc.record({ value: fc.constant(0), type: tensorType }), {
    minLength: 1,
    maxLength: 2,
  }),
});

const place: fc.Arbitrary<SourcePlace> = fc.oneof(
  fc.record({ source: text }),
  fc.record({
    source: fc.constantFrom('ir', 'model.ir', 'a "b"'),
    line: fc.integer({ min: 1, max: 500 }),
    column: fc.integer({ min: 1, max: 200 }),
  }),
);

const functionRecipe = fc.record({
  name,
  params: fc.uniqueArray(name, { maxLength: 3 }),
  results: fc.option(fc.array(valueType, { maxLength: 2 })),
  paramType: valueType,
  fullType: fc.option(fullType),
  steps: fc.array(fc.tuple(fc.nat({ max: 8 }), fc.nat(), fc.nat()), { maxLength: 12 }),
  places: fc.array(fc.array(place, { maxLength: 3 }), { maxLength: 12 }),
});

type Recipe<T> = T extends fc.Arbitrary<infer U> ? U : never;

interface ExecutableRecipe {
  readonly metadata: Record<string, string>;
  readonly constants: readonly AddConstant[];
  readonly primitives: readonly Recipe<typeof primitive>[];
  readonly programs: readonly (readonly Dim[])[];
  readonly functions: readonly Recipe<typeof functionRecipe>[];
}

function build(recipe: ExecutableRecipe): Executable {
  const b = new ExecBuilder();
  for (const [key, value] of Object.entries(recipe.metadata)) b.metadata(key, value);
  const taken = new Set<string>();
  const fresh = (name: string): string => {
    const unique = taken.has(name) || name.startsWith('vm.') ? `${name}_${taken.size}` : name;
    taken.add(unique);
    return unique;
  };
  const constants = recipe.constants.map((add) => add(b));
  const primitives = recipe.primitives.map((draft) => {
    const fixed = fixPrimitive({ ...draft, name: fresh(draft.name) });
    b.primitive(fixed);
    return fixed;
  });
  for (const dims of recipe.programs) {
    b.shapeProgram(dims.flatMap((dim, i) => [...shapeSteps(dim), { op: 'store', slot: i }]));
  }
  const functions = recipe.functions.map((fn) => ({ ...fn, name: fresh(fn.name) }));
  for (const fn of functions) {
    const { paramType, results, params } = fn;
    const signature: FunctionSignature | undefined = results
      ? {
          params: params.map(() => paramType),
          results: results.map((type, i) => ({ name: `y${i}`, type })),
        }
      : undefined;
    const f = b.function(fn.name, params, signature === undefined ? {} : { signature });
    emitSteps(f, fn, { constants, primitives, functions, programs: recipe.programs.length });
  }
  const typed = functions.flatMap(({ name, params, fullType: type }): NamedFunctionType[] =>
    type === null ? [] : [{ name, params: params.map(() => type), result: type }],
  );
  if (typed.length > 0) b.types({ dataTypes: [LIST], functions: typed, packed: [] });
  return b.build();
}

/** Wraps value numbers into the range that single assignment allows. */
function fixPrimitive(draft: PrimitiveFunction): PrimitiveFunction {
  const { params, body, results } = draft;
  const count = params.length + body.length;
  return {
    ...draft,
    body: body.map((call, position) => ({
      ...call,
      inputs: call.inputs.map((input) => {
        const known = params.length + position;
        return input < 0 || known === 0 ? -1 : input % known;
      }),
    })),
    results: results
      .slice(0, returnsTensor(draft) ? 1 : body.length)
      .map(({ type }, position) => ({ value: count - 1 - position, type })),
  };
}

/** Steps that the verifier can prove nothing wrong of: symbols are loaded from slots. */
function shapeSteps(dim: Dim): ShapeStep[] {
  if (typeof dim === 'number') return [{ op: 'const', value: dim }];
  if (typeof dim === 'string') return [{ op: 'load', slot: dim.length }];
  const isSafe = dim.op === 'min' || dim.op === 'max';
  const right: ShapeStep[] = isSafe ? shapeSteps(dim.right) : [{ op: 'load', slot: 1 }];
  return [...shapeSteps(dim.left), ...right, { op: dim.op }];
}

interface Resources {
  readonly constants: readonly Operand[];
  readonly primitives: readonly PrimitiveFunction[];
  readonly functions: readonly { readonly name: string; readonly params: readonly string[] }[];
  readonly programs: number;
}

function emitSteps(
  f: FunctionBuilder,
  { steps, places }: Pick<Recipe<typeof functionRecipe>, 'steps' | 'places'>,
  resources: Resources,
): void {
  const { constants, primitives, functions, programs } = resources;
  const registers: RegisterOperand[] = f.paramNames.map((param) => f.param(param));
  const heap = f.call('vm.builtin.alloc_shape_heap', [12]);
  const pick = <T>(items: readonly T[], choice: number): T | undefined =>
    items[choice % Math.max(1, items.length)];
  const value = (choice: number): Operand =>
    pick([...registers, ...constants, f.imm(choice - 5), f.imm(choice * 1e5), f.void], choice) ??
    f.void;
  const define = (register: RegisterOperand): void => {
    if (register.value !== f.void.value) registers.push(register);
  };
  const start = f.label();
  f.place(start);
  for (const [index, [kind, x, y]] of steps.entries()) {
    const from = places[index];
    if (from !== undefined) f.at(...from);
    const register = pick(registers, x);
    const fn = pick(functions, x);
    const kernel = pick(primitives, x);
    if (kind === 0) define(f.call('vm.builtin.make_tuple', [value(x), value(y)]));
    else if (kind === 1)
      define(f.call('user.packed', [f.vm, value(x)], { into: f.r(100 + (y % 50)) }));
    else if (kind === 2 && fn !== undefined) {
      define(f.call(
        fn.name,
        fn.params.map((_, i) => value(y + i)),
      ));
    } else if (kind === 3 && kernel !== undefined && register !== undefined) {
      const outputs = returnsTensor(kernel) ? 0 : kernel.results.length;
      const count = kernel.params.length + outputs;
      f.call(
        kernel.name,
        Array.from({ length: count }, () => register),
      );
    } else if (kind === 4 && register !== undefined) {
      const end = f.label();
      f.if(register, end);
      f.call('user.effect', [value(y)], { into: f.void });
      f.place(end);
    } else if (kind === 5 && register !== undefined) {
      const end = f.label();
      f.if(register, end);
      f.goto(start);
      f.place(end);
    } else if (kind === 6) define(f.call('vm.builtin.load_shape', [heap, x % 12]));
    else if (kind === 7 && programs > 0) f.call('vm.builtin.compute_shape', [heap, x % programs]);
    else if (kind === 8) define(f.call('vm.builtin.make_shape', [heap, 2, 0, x % 9, 1, y % 12]));
  }
  f.ret(value(steps.length));
}
