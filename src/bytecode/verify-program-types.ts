import { brokenRule } from './broken-rule.ts';
import type {
  DataType,
  ExecutableData,
  FullType,
  NamedFunctionType,
  ProgramTypes,
} from './executable.ts';
import { verifyName, verifyUnique } from './verify-text.ts';
import { verifyTensorType } from './verify-types.ts';

/** Checks names, counts, tags and mentions of the full types of a program, if it has any. */
export function verifyProgramTypes(program: ExecutableData): void {
  const { types, functions, functionTable } = program;
  if (types === undefined) return;
  const dataTypes = new Map(types.dataTypes.map((type) => [type.name, type]));
  verifyUnique(
    types.dataTypes.map(({ name }) => name),
    'data types',
  );
  verifyUnique(constructorsOf(types), 'constructors of data types');
  for (const type of types.dataTypes) verifyDataType(type, dataTypes);
  const known = new Map(functions.map((fn) => [fn.name, fn.paramNames.length]));
  verifyFunctionTypes('function', types.functions, dataTypes);
  for (const { name, params } of types.functions) {
    const count = known.get(name);
    if (count === params.length) continue;
    const expected = count === undefined ? 'a function of the executable' : `${count}`;
    throw brokenRule(`type of function ${name}`, `${params.length} parameters`, expected);
  }
  const packed = functionTable.filter(({ kind }) => kind === 'packed').map(({ name }) => name);
  verifyFunctionTypes('packed function', types.packed, dataTypes);
  for (const { name } of types.packed) {
    if (packed.includes(name)) continue;
    throw brokenRule('types', `packed function ${name}`, 'one that the executable calls');
  }
}

function constructorsOf({ dataTypes }: ProgramTypes): string[] {
  return dataTypes.flatMap(({ constructors }) => constructors.map(({ name }) => name));
}

type DataTypes = ReadonlyMap<string, DataType>;

function verifyDataType({ name, params, constructors }: DataType, dataTypes: DataTypes): void {
  const where = `data type ${name}`;
  verifyName(name, 'data type');
  verifyUnique(params, `type parameters of ${where}`);
  verifyUnique(
    constructors.map(({ tag }) => String(tag)),
    `tags of ${where}`,
  );
  for (const constructor of constructors) {
    verifyName(constructor.name, `constructor of ${where}`);
    for (const field of constructor.fields) {
      verifyFullType(field, { where, dataTypes, typeParams: params });
    }
  }
}

function verifyFunctionTypes(
  what: string,
  functions: readonly NamedFunctionType[],
  dataTypes: DataTypes,
): void {
  verifyUnique(
    functions.map(({ name }) => name),
    `types of ${what}s`,
  );
  for (const { name, params, result } of functions) {
    const context = { where: `type of ${what} ${name}`, dataTypes, typeParams: undefined };
    for (const type of [...params, result]) verifyFullType(type, context);
  }
}

interface TypeContext {
  readonly where: string;
  readonly dataTypes: DataTypes;
  /** Undefined where any may stand: those of a polymorphic function. */
  readonly typeParams: readonly string[] | undefined;
}

function verifyFullType(root: FullType, { where, dataTypes, typeParams }: TypeContext): void {
  const stack = [root];
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (type.kind === 'tensor') verifyTensorType(type, where);
    else if (type.kind === 'opaque') verifyName(type.name, `opaque type of ${where}`);
    else if (type.kind === 'tuple') stack.push(...type.fields);
    else if (type.kind === 'function') stack.push(...type.params, type.result);
    else if (type.kind === 'type-param' && typeParams?.includes(type.name) === false) {
      throw brokenRule(where, `type parameter ${type.name}`, typeParams.join(', ') || 'none');
    } else if (type.kind === 'adt') {
      const count = dataTypes.get(type.name)?.params.length;
      if (count !== type.args.length) {
        const expected = count === undefined ? 'a data type of the executable' : `${count}`;
        throw brokenRule(where, `${type.name} of ${type.args.length} types`, expected);
      }
      stack.push(...type.args);
    }
  }
}
