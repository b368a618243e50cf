import { storageByteLength } from '../core/dtype.ts';
import type { ConcreteTensorType } from '../core/primitive-function.ts';
import { UnsupportedError } from '../core/errors.ts';
import { elementCount } from '../core/shape.ts';
import { BUILTIN_PREFIX, type BuiltinName, MatchCode } from '../bytecode/builtins.ts';
import { ExecBuilder } from '../bytecode/exec-builder.ts';
import type { FunctionSignature, NamedResult, ValueType } from '../bytecode/executable.ts';
import type { Executable } from '../bytecode/executable-file.ts';
import type { FunctionBuilder, Operand, OperandLike } from '../bytecode/function-builder.ts';
import { type CallExpr, type Expr, formatSpan, type FunctionExpr, type Module } from './ir/expr.ts';
import type { Type } from './ir/type.ts';
import { type ScheduledExpr, scheduleBody } from './liveness.ts';
import { VIEW_OPERATOR } from './passes/fuse.ts';
import { PrimitiveTable } from './primitive-table.ts';
import type { TypeInference } from './type-inference.ts';

const SESSION_DEVICE = 0;

/**
 * Bytecode of a module whose operator calls are all inside primitive functions, but for reshape,
 * which is a view. Kernels are called in destination-passing style on tensors from the pool; a
 * register is killed after its last use.
 */
export function generateCode(module: Module, types: TypeInference): Executable {
  const builder = new ExecBuilder();
  const primitives = new PrimitiveTable(builder, types);
  for (const [name, fn] of module.functions) {
    new FunctionGenerator({ builder, primitives, types }, name, fn).generate();
  }
  for (const [key, value] of Object.entries(module.metadata)) builder.metadata(key, value);
  return builder.build();
}

interface GeneratorContext {
  readonly builder: ExecBuilder;
  readonly primitives: PrimitiveTable;
  readonly types: TypeInference;
}

class FunctionGenerator {
  readonly #builder: ExecBuilder;
  readonly #primitives: PrimitiveTable;
  readonly #types: TypeInference;
  readonly #fn: FunctionExpr;
  readonly #code: FunctionBuilder;
  readonly #operands = new Map<Expr, Operand>();

  constructor(context: GeneratorContext, name: string, fn: FunctionExpr) {
    this.#builder = context.builder;
    this.#primitives = context.primitives;
    this.#types = context.types;
    this.#fn = fn;
    this.#code = context.builder.function(
      name,
      fn.params.map((param) => param.name),
      { signature: signatureOf(fn, context.types) },
    );
  }

  generate(): void {
    for (const param of this.#fn.params) {
      this.#operands.set(param, this.#code.param(param.name));
    }
    this.#checkParams();
    const schedule = scheduleBody(this.#fn.body);
    for (const step of schedule) this.#step(step);
    this.#code.ret(this.#owned(this.#fn.body));
  }

  #checkParams(): void {
    const tensors = this.#fn.params.filter((param) => this.#types.of(param).kind === 'tensor');
    if (tensors.length === 0) return;
    const heap = this.#builtin('alloc_shape_heap', [0]);
    for (const param of tensors) {
      const { dtype, shape } = this.#types.tensor(param);
      const register = this.#operand(param);
      const where = this.#builder.string(`input "${param.name}"`);
      this.#builtin('check_tensor_info', [
        register,
        shape.length,
        this.#builder.dtype(dtype),
        where,
      ]);
      const pairs = shape.flatMap((dim) => [MatchCode.assertImmediate, dim]);
      this.#builtin('match_shape', [register, heap, shape.length, ...pairs, where]);
    }
    this.#builtin('kill', [], heap);
  }

  #step({ expr, dying }: ScheduledExpr): void {
    this.#evaluate(expr);
    for (const dead of dying) {
      const register = this.#operands.get(dead);
      if (register?.kind === 'register') this.#builtin('kill', [], register);
    }
  }

  #evaluate(expr: Expr): void {
    switch (expr.kind) {
      case 'call':
        this.#operands.set(expr, this.#call(expr));
        return;
      case 'tuple':
        this.#operands.set(
          expr,
          this.#builtin(
            'make_tuple',
            expr.fields.map((field) => this.#owned(field)),
          ),
        );
        return;
      case 'projection':
        this.#operands.set(
          expr,
          this.#builtin('tuple_get', [this.#operand(expr.tuple), expr.index]),
        );
        return;
      case 'var':
        if (!this.#operands.has(expr)) {
          throw new Error(`internal: variable ${expr.name} is free in a global function`);
        }
        return;
      case 'constant':
      case 'operator':
      case 'function':
        return;
      case 'int':
      case 'constructor':
      case 'global':
      case 'let':
      case 'if':
      case 'match':
        throw new UnsupportedError({
          where: formatSpan(expr.span, 'code generation'),
          got: `a ${expr.kind} expression`,
          expected: 'a program of operator calls and tuples',
        });
      default:
        expr satisfies never;
    }
  }

  #call(expr: CallExpr): Operand {
    const args = expr.args.map((arg) => this.#operand(arg));
    if (expr.callee.kind === 'operator') {
      if (expr.callee.name !== VIEW_OPERATOR) {
        throw new Error(`internal: a call of ${expr.callee.name} outside a primitive function`);
      }
      const { shape } = this.#types.tensor(expr);
      return this.#builtin('reshape', [...args, this.#builder.shape(shape)]);
    }
    if (expr.callee.kind !== 'function') {
      throw new UnsupportedError({
        where: formatSpan(expr.span, 'code generation'),
        got: `a call of a ${expr.callee.kind}`,
        expected: 'calls of operators and of primitive functions',
      });
    }
    const result = this.#allocate(this.#types.tensor(expr));
    this.#code.call(this.#primitives.nameOf(expr.callee), [...args, result]);
    return result;
  }

  #allocate({ dtype, shape }: ConcreteTensorType): Operand {
    const byteLength = storageByteLength(dtype, elementCount(shape));
    const storage = this.#builtin('alloc_storage', [byteLength, SESSION_DEVICE]);
    const tensor = this.#builtin('alloc_tensor', [
      storage,
      0,
      this.#builder.shape(shape),
      this.#builder.dtype(dtype),
    ]);
    this.#builtin('kill', [], storage);
    return tensor;
  }

  /** An operand that may leave the function: constants and parameters are copied out. */
  #owned(expr: Expr): Operand {
    const operand = this.#operand(expr);
    const isOwned = expr.kind !== 'constant' && expr.kind !== 'var';
    return isOwned ? operand : this.#builtin('copy', [operand]);
  }

  #operand(expr: Expr): Operand {
    const known = this.#operands.get(expr);
    if (known !== undefined) return known;
    if (expr.kind !== 'constant') {
      throw new Error(`internal: a ${expr.kind} is used before it is evaluated`);
    }
    const operand = this.#builder.tensor(expr.value);
    this.#operands.set(expr, operand);
    return operand;
  }

  #builtin(name: BuiltinName, args: readonly OperandLike[], into?: Operand): Operand {
    const options =
      into?.kind === 'register' ? { into: { kind: into.kind, value: into.value } } : {};
    return this.#code.call(BUILTIN_PREFIX + name, args, options);
  }
}

function signatureOf(fn: FunctionExpr, types: TypeInference): FunctionSignature {
  const { body } = fn;
  const result = types.of(body);
  const fields = result.kind === 'tuple' ? result.fields : [result];
  const names = fn.attributes.resultNames ?? [];
  return {
    params: fn.params.map((param) => valueType(types.of(param))),
    results: fields.map(
      (type, i): NamedResult => ({
        name: names[i] ?? (fields.length === 1 ? 'result' : `result${i}`),
        type: valueType(type),
      }),
    ),
  };
}

function valueType(type: Type): ValueType {
  return type.kind === 'tensor' ? type : { kind: 'any' };
}
