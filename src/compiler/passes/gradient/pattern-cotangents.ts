import { float, int, tuple, variableOf } from '../../ir/build.ts';
import type { Expr, Pattern } from '../../ir/expr.ts';
import { type AdtTypeNode, formatType, type Type } from '../../ir/type.ts';
import type { Derivatives } from './derivatives.ts';
import type { Emitter } from './emitter.ts';
import { construct, type TypedValues } from './typed-values.ts';

/** The context in which the cotangent of a matched value is put together. */
interface PatternPlace {
  readonly values: TypedValues;
  /** Cotangents, those of the pattern's variables among them. */
  readonly cotangents: Derivatives;
  readonly matched: Expr;
}

/** The cotangent of a value of a type that fits a pattern, from those of the pattern's variables. */
export function cotangentOfPattern(pattern: Pattern, type: Type, place: PatternPlace): Expr {
  const { values, cotangents, matched } = place;
  const { emitter } = cotangents;
  switch (pattern.kind) {
    case 'var-pattern':
      return cotangents.wholeOf(pattern.variable, type);
    case 'wildcard':
    case 'int-pattern':
    case 'float-pattern':
      return values.zero(matched, type, emitter);
    case 'tuple-pattern': {
      const types = fieldTypesOf(pattern, type, values);
      return tuple(
        pattern.fields.map((field, i) => cotangentOfPattern(field, types[i] ?? type, place)),
      );
    }
    case 'constructor-pattern': {
      const types = fieldTypesOf(pattern, type, values);
      const fields = pattern.fields.map((field, i) => {
        const own = types[i] ?? type;
        const cotangent = cotangentOfPattern(field, own, place);
        return values.toData(cotangent, valueOf(field, own, values), { type: own, emitter });
      });
      return construct(pattern.constructor, requireData(type), fields);
    }
    default:
      return pattern satisfies never;
  }
}

/** A pattern that fits the same values, with variables in place of wildcards. */
export function bindAllParts(
  pattern: Pattern,
  type: Type,
  place: { readonly values: TypedValues; readonly emitter: Emitter },
): Pattern {
  switch (pattern.kind) {
    case 'var-pattern':
    case 'int-pattern':
    case 'float-pattern':
      return pattern;
    case 'wildcard': {
      const own =
        type.kind === 'tensor' ? { ...type, shape: place.emitter.namedShape(type.shape) } : type;
      return { kind: 'var-pattern', variable: variableOf('rest', own) };
    }
    case 'tuple-pattern':
    case 'constructor-pattern': {
      const types = fieldTypesOf(pattern, type, place.values);
      const fields = pattern.fields.map((field, i) => bindAllParts(field, types[i] ?? type, place));
      return { ...pattern, fields };
    }
    default:
      return pattern satisfies never;
  }
}

/** The value that fits a pattern without wildcards. */
function valueOf(pattern: Pattern, type: Type, values: TypedValues): Expr {
  switch (pattern.kind) {
    case 'var-pattern':
      return pattern.variable;
    case 'tuple-pattern':
    case 'constructor-pattern': {
      const types = fieldTypesOf(pattern, type, values);
      const fields = pattern.fields.map((field, i) => valueOf(field, types[i] ?? type, values));
      return pattern.kind === 'tuple-pattern'
        ? tuple(fields)
        : construct(pattern.constructor, requireData(type), fields);
    }
    case 'int-pattern':
      return int(pattern.value);
    case 'float-pattern':
      return float(pattern.value);
    case 'wildcard':
      throw new Error('internal: a wildcard in a pattern with derivatives');
    default:
      return pattern satisfies never;
  }
}

/** The types of the parts of a value that a pattern takes apart. */
function fieldTypesOf(pattern: Pattern, type: Type, values: TypedValues): readonly Type[] {
  if (pattern.kind === 'constructor-pattern') {
    return values.fieldTypes(requireData(type), pattern.constructor);
  }
  return type.kind === 'tuple' ? type.fields : [];
}

function requireData(type: Type): AdtTypeNode {
  if (type.kind === 'adt') return type;
  throw new Error(`internal: a pattern of ${formatType(type)}`);
}
