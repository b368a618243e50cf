import type { VerifyError } from '../../core/errors.ts';
import { brokenRule } from './broken-rule.ts';
import { type BuiltinOperand, type BuiltinSignature, MakeCode, MatchCode } from '../builtins.ts';
import type { Constant } from '../executable.ts';
import { ArgumentKind, argumentKind, argumentValue, VM_REGISTER, VOID_REGISTER } from '../isa.ts';
import { withArticle } from '../text/text-format.ts';
import type { HeapUse } from './verify-flow.ts';
import { MAX_HEAP_SLOTS } from './verify-shape-program.ts';

interface BuiltinCall {
  readonly signature: BuiltinSignature;
  readonly args: readonly number[];
  readonly constants: readonly Constant[];
  /** Slots that each shape program needs. */
  readonly shapePrograms: readonly number[];
  /** Describes the call, for messages. */
  readonly where: () => string;
}

/**
 * Checks the operands of a call of a builtin against its signature. Returns what it asks of the
 * shape heaps among them. Throws VerifyError.
 */
export function verifyBuiltinCall(call: BuiltinCall): HeapUse[] {
  const cursor = new OperandCursor(call);
  for (const { name, type } of call.signature.params) {
    const types: readonly BuiltinOperand[] = typeof type === 'string' ? [type] : type;
    if (types[0] === 'match-pairs') cursor.pairs(name, MATCH_VALUES);
    else if (types[0] === 'make-pairs') cursor.pairs(name, MAKE_VALUES);
    else cursor.operand(name, types);
  }
  const { rest } = call.signature;
  if (rest !== undefined) {
    const types: readonly BuiltinOperand[] =
      typeof rest.type === 'string' ? [rest.type] : rest.type;
    while (cursor.remaining > 0) cursor.operand(rest.name, types);
  }
  cursor.end();
  return cursor.heapUses;
}

/** The meaning of the value after a code, by code. */
type PairValue = 'dimension' | 'slot' | 'ignored';

const MATCH_VALUES = new Map<number, PairValue>([
  [MatchCode.assertImmediate, 'dimension'],
  [MatchCode.store, 'slot'],
  [MatchCode.ignore, 'ignored'],
  [MatchCode.assertSlot, 'slot'],
]);
const MAKE_VALUES = new Map<number, PairValue>([
  [MakeCode.immediate, 'dimension'],
  [MakeCode.slot, 'slot'],
]);

/** The kind of an operand word, as far as it can be seen before the program runs. */
function describeWord(word: number, constants: readonly Constant[]): string {
  const value = argumentValue(word);
  switch (argumentKind(word)) {
    case ArgumentKind.register:
      if (value === VOID_REGISTER) return '%void';
      return value === VM_REGISTER ? '%vm' : `register %${value}`;
    case ArgumentKind.immediate:
      return `immediate ${value}`;
    case ArgumentKind.constant:
      return `${constants[value]?.kind ?? 'unknown'} constant c[${value}]`;
    default:
      return `function f[${value}]`;
  }
}

/** Constants that an operand type takes, and the lowest immediate where it takes immediates. */
const OPERAND_RULES: Readonly<Record<BuiltinOperand, OperandRule>> = {
  value: {
    register: true,
    void: true,
    function: true,
    constants: ['tensor', 'shape', 'string', 'int', 'float', 'dtype'],
    immediates: [-Infinity, Infinity],
  },
  tensor: { register: true, constants: ['tensor'] },
  storage: { register: true },
  shape: { register: true, constants: ['shape'] },
  heap: { register: true },
  adt: { register: true },
  closure: { register: true, function: true },
  int: { register: true, constants: ['int'], immediates: [-Infinity, Infinity] },
  float: { register: true, constants: ['float'] },
  string: { register: true, constants: ['string'] },
  dtype: { register: true, constants: ['dtype'] },
  function: { function: true },
  slot: { immediates: [0, MAX_HEAP_SLOTS - 1] },
  program: { immediates: [0, Infinity] },
  count: { immediates: [0, Infinity] },
  rank: { immediates: [-1, Infinity] },
  device: { immediates: [0, 1] },
  void: { void: true },
  'match-pairs': {},
  'make-pairs': {},
};

interface OperandRule {
  readonly register?: boolean;
  readonly void?: boolean;
  readonly function?: boolean;
  readonly constants?: readonly Constant['kind'][];
  /** Lowest and highest. */
  readonly immediates?: readonly [number, number];
}

class OperandCursor {
  readonly heapUses: HeapUse[] = [];
  readonly #call: BuiltinCall;
  #position = 0;
  #heap = -1;
  #count = 0;

  constructor(call: BuiltinCall) {
    this.#call = call;
  }

  get remaining(): number {
    return this.#call.args.length - this.#position;
  }

  operand(name: string, types: readonly BuiltinOperand[]): void {
    const word = this.#next(name);
    if (!types.some((type) => this.#matches(word, OPERAND_RULES[type]))) {
      throw this.#error(name, describeWord(word, this.#call.constants), types.map(describeType));
    }
    const value = argumentValue(word);
    if (types.includes('heap')) {
      this.#heap = value;
      this.#useHeap(0);
    } else if (types.includes('count')) {
      this.#count = value;
    } else if (types.includes('slot')) {
      this.#useHeap(value + 1);
    } else if (types.includes('program')) {
      const slots = this.#call.shapePrograms[value];
      if (slots === undefined) {
        const expected = `one of ${this.#call.shapePrograms.length} shape programs`;
        throw this.#error(name, `shape program ${value}`, [expected]);
      }
      this.#useHeap(slots);
    }
  }

  /** As many pairs (code, value) as the count before them says. */
  pairs(name: string, values: ReadonlyMap<number, PairValue>): void {
    if (2 * this.#count > this.remaining) {
      const expected = `${2 * this.#count}, two for each of ${this.#count} dimensions`;
      throw this.#error(name, `${this.remaining} operands`, [expected]);
    }
    for (let i = 0; i < this.#count; i++) {
      const codeWord = this.#next(name);
      const meaning =
        argumentKind(codeWord) === ArgumentKind.immediate
          ? values.get(argumentValue(codeWord))
          : undefined;
      if (meaning === undefined) {
        const got = describeWord(codeWord, this.#call.constants);
        throw this.#error(name, got, [`a code from 0 to ${values.size - 1}`]);
      }
      this.#pairValue(name, meaning);
    }
  }

  end(): void {
    if (this.remaining === 0) return;
    throw brokenRule(this.#call.where(), `${this.#call.args.length} operands`, `${this.#position}`);
  }

  #pairValue(name: string, meaning: PairValue): void {
    const word = this.#next(name);
    const { constants } = this.#call;
    const constant =
      argumentKind(word) === ArgumentKind.constant ? constants[argumentValue(word)] : undefined;
    const isImmediate = argumentKind(word) === ArgumentKind.immediate;
    const value = isImmediate ? argumentValue(word) : -1;
    if (meaning === 'slot' && isImmediate && value >= 0) {
      this.#useHeap(value + 1);
    } else if (meaning === 'dimension') {
      const dimension = constant?.kind === 'int' ? constant.value : value;
      if (dimension < 0) {
        const expected = 'a dimension: an immediate or int constant from 0 up';
        throw this.#error(name, describeWord(word, constants), [expected]);
      }
    } else if (meaning === 'slot' || !isImmediate) {
      const expected = meaning === 'slot' ? 'an immediate slot' : 'an immediate';
      throw this.#error(name, describeWord(word, constants), [expected]);
    }
  }

  #matches(word: number, rule: OperandRule): boolean {
    const value = argumentValue(word);
    switch (argumentKind(word)) {
      case ArgumentKind.register:
        if (value === VOID_REGISTER) return rule.void === true;
        return value !== VM_REGISTER && rule.register === true;
      case ArgumentKind.immediate: {
        const [lowest, highest] = rule.immediates ?? [1, 0];
        return value >= lowest && value <= highest;
      }
      case ArgumentKind.constant: {
        const kind = this.#call.constants[value]?.kind;
        return kind !== undefined && rule.constants?.includes(kind) === true;
      }
      default:
        return rule.function === true;
    }
  }

  #useHeap(slots: number): void {
    // One use for each heap of a call, of its highest slot: each is a walk through the blocks.
    const last = this.heapUses.at(-1);
    if (last?.register !== this.#heap) this.heapUses.push({ register: this.#heap, slots });
    else if (slots > last.slots) this.heapUses.splice(-1, 1, { register: this.#heap, slots });
  }

  #next(name: string): number {
    const word = this.#call.args[this.#position++];
    if (word === undefined) throw this.#error(name, 'no operand', ['one']);
    return word;
  }

  #error(name: string, got: string, expected: readonly string[]): VerifyError {
    return brokenRule(`${this.#call.where()}, operand ${name}`, got, expected.join(' or '));
  }
}

function describeType(type: BuiltinOperand): string {
  const {
    register,
    void: allowsVoid,
    function: allowsFunction,
    constants,
    immediates,
  } = OPERAND_RULES[type];
  const forms: string[] = [];
  if (register === true) forms.push('register');
  if (constants !== undefined) forms.push('constant');
  if (allowsFunction === true) forms.push('function');
  if (allowsVoid === true) forms.push('%void');
  if (immediates !== undefined) forms.push(describeImmediates(immediates));
  return `${withArticle(type)} (${forms.join(', ')})`;
}

function describeImmediates([lowest, highest]: readonly [number, number]): string {
  if (lowest === -Infinity) return 'immediate';
  return highest === Infinity ? `immediate from ${lowest}` : `immediate ${lowest} to ${highest}`;
}
