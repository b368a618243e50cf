import { UnsupportedError, UsageError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import { MAX_RULE_COUNT, tooManyRules } from '../automaton/analyse-rules.ts';
import {
  choice,
  choiceOf,
  type Expression,
  type Rules,
  rule,
  text,
  EMPTY,
  type GraphEdge,
  repeat,
  sequence,
} from '../expression.ts';
import type { GrammarMeter } from '../grammar-meter.ts';
import { requireSize } from '../measure-expression.ts';
import { oneOfTexts } from '../one-of-texts.ts';
import { MAX_NESTING } from '../languages/text-cursor.ts';
import { compileNumber, compileString } from './compile-string.ts';
import { compileObject, type SchemaContext } from './compile-object.ts';
import { areDisjoint } from './disjoint-schemas.ts';
import { ANY_VALUE, JsonLayout, type JsonSpace } from './json-layout.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { SchemaDocument } from './schema-document.ts';
import {
  CONSTRAINTS,
  hasType,
  jsonOf,
  type JsonSchema,
  type SchemaObject,
  type TypeName,
  typeOfValue,
  typesByKeywords,
} from './schema-types.ts';

/**
 * The texts of all JSON values that have a schema. As in OpenAI's strict mode, an object has the listed
 * properties in their order, and others behind them only if `additionalProperties` allows them; those
 * that are not required may be missing. Likewise an array has no items beyond `prefixItems` unless
 * `items` is there. A schema without `type` is about the types that its keywords are about.
 *
 * Throws UnsupportedError with a JSON pointer for what cannot be followed, ParseError for keywords
 * that are no JSON schema, and UsageError for schemas that no value has.
 */
export function compileSchema(schema: JsonSchema, space: JsonSpace, meter: GrammarMeter): Rules {
  return new SchemaCompiler(schema, space, meter).compile();
}

/** Steps for a schema and for each keyword. */
const WORK = 50;

const hasConstraints = (schema: SchemaObject): boolean =>
  Object.keys(schema).some((keyword) => CONSTRAINTS.has(keyword));

class SchemaCompiler implements SchemaContext {
  readonly document: SchemaDocument;
  readonly layout: JsonLayout;
  readonly #meter: GrammarMeter;
  readonly #rules: Map<string, Expression>;
  /** What schemas say beside their alternatives; the same object each time one is compiled. */
  readonly #common = new Map<SchemaObject, SchemaObject>();
  readonly #pending: { name: string; schema: JsonSchema; holder: SchemaObject }[] = [];
  #depth = 0;

  constructor(schema: JsonSchema, space: JsonSpace, meter: GrammarMeter) {
    this.document = new SchemaDocument(schema);
    this.#meter = meter;
    this.layout = new JsonLayout(space);
    this.#rules = this.layout.rules();
  }

  compile(): Rules {
    const root = this.#addRule('#', this.document.root, {});
    // The list grows while it is walked.
    for (const { name, schema, holder } of this.#pending) {
      this.#rules.set(name, this.value(schema, holder));
    }
    return { root, rules: this.#rules };
  }

  value(schema: JsonSchema, holder: SchemaObject): Expression {
    if (schema === true) return rule(ANY_VALUE);
    if (schema === false) {
      const where = this.document.pointer(holder);
      throw new UsageError({
        where,
        got: 'the schema false',
        expected: 'one that a value can have',
      });
    }
    if (this.#depth === MAX_NESTING) {
      const where = this.document.pointer(schema);
      const expected = `at most ${MAX_NESTING} schemas inside each other`;
      throw new UnsupportedError({ where, got: 'one more', expected });
    }
    this.#depth++;
    this.#meter.where = () => this.document.pointer(schema);
    countWork(WORK * (1 + Object.keys(schema).length));
    const expression = this.#object(schema);
    this.#depth--;
    return expression;
  }

  sharedValue(schema: JsonSchema, holder: SchemaObject): Expression {
    if (typeof schema === 'boolean') return this.value(schema, holder);
    return rule(this.#addRule(`schema ${this.document.idOf(schema)}`, schema, holder));
  }

  /** Adds a rule that is compiled later: it may refer to itself, and chains of rules may be long. */
  #addRule(name: string, schema: JsonSchema, holder: SchemaObject): string {
    if (this.#rules.has(name)) return name;
    if (this.#rules.size === MAX_RULE_COUNT) throw tooManyRules(this.document.pointer(holder));
    this.#rules.set(name, choice());
    this.#pending.push({ name, schema, holder });
    return name;
  }

  #object(schema: SchemaObject): Expression {
    this.document.requireKeywords(schema);
    const { $ref: ref, allOf, anyOf, oneOf, ...rest } = schema;
    if (
      ref !== undefined &&
      !hasConstraints(rest) &&
      allOf === undefined &&
      anyOf === undefined &&
      oneOf === undefined
    ) {
      const { pointer, target } = this.document.resolve(schema);
      return rule(this.#addRule(pointer, target, schema));
    }
    if (ref !== undefined || allOf !== undefined) return this.#all(schema);
    if (anyOf !== undefined) return this.#any(schema, 'anyOf');
    if (oneOf !== undefined) return this.#any(schema, 'oneOf');
    if (Object.hasOwn(schema, 'const')) return this.#values(schema, [schema['const']]);
    const values = this.document.valuesOf(schema);
    return values === undefined ? this.#byType(schema) : this.#values(schema, values);
  }

  /**
   * Merges a schema with those that its `allOf` and `$ref` add. The same ones are merged once, as a rule:
   * written out, a chain of definitions that are each used twice would double at each link.
   */
  #all(schema: SchemaObject): Expression {
    const parts = new Map<SchemaObject, SchemaObject>();
    const pending: JsonSchema[] = [schema];
    const seen = new Set<JsonSchema>();
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (next === true) continue;
      if (next === false) return this.value(false, schema);
      if (seen.has(next)) continue;
      seen.add(next);
      this.document.requireKeywords(next);
      const { $ref: ref, allOf: _, ...rest } = next;
      if (ref !== undefined) pending.push(this.document.resolve(next).target);
      for (const part of this.document.schemasAt(next, 'allOf') ?? []) pending.push(part);
      if (hasConstraints(rest)) parts.set(next, rest);
    }
    if (parts.size === 0) return this.value(true, schema);
    const ids = Array.from(parts.keys(), (part) => this.document.idOf(part));
    const name = `schemas ${ids.join(' ')}`;
    if (this.#rules.has(name)) return rule(name);
    const merged = Array.from(parts, ([part, rest]) => this.document.derive(rest, part)).reduce(
      (all, part) => mergeSchemas(all, part, this.document),
    );
    return rule(this.#addRule(name, merged, schema));
  }

  /** The keywords beside `anyOf` and `oneOf` hold in each alternative. */
  #any(schema: SchemaObject, keyword: 'anyOf' | 'oneOf'): Expression {
    const { [keyword]: _, ...rest } = schema;
    const common = this.#common.get(schema) ?? this.document.derive(rest, schema);
    this.#common.set(schema, common);
    const options = this.document.schemasAt(schema, keyword) ?? [];
    if (keyword === 'oneOf') this.#requireDisjoint(schema, options);
    const hasCommon = hasConstraints(rest);
    const merged = (option: JsonSchema): JsonSchema =>
      hasCommon ? this.document.derive({ allOf: [common, option] }, schema) : option;
    return choiceOf(options.map((option) => this.value(merged(option), schema)));
  }

  #requireDisjoint(schema: SchemaObject, options: readonly JsonSchema[]): void {
    this.#meter.where = () => this.document.pointer(schema, 'oneOf');
    for (const [i, option] of options.entries()) {
      for (const [j, other] of options.entries()) {
        if (j === i) break;
        if (areDisjoint(option, other, this)) continue;
        const got = `alternatives ${j} and ${i}, which a value may have both`;
        const expected =
          'alternatives that differ in their types or in a required constant, or anyOf';
        throw this.document.unsupported(schema, 'oneOf', got, expected);
      }
    }
  }

  #values(schema: SchemaObject, values: readonly unknown[]): Expression {
    const types = this.document.typesOf(schema);
    const other = Object.keys(schema).find(
      (keyword) => CONSTRAINTS.has(keyword) && !['type', 'enum', 'const'].includes(keyword),
    );
    if (other !== undefined) {
      throw this.document.unsupported(schema, other, `${other} beside values`, 'type, or nothing');
    }
    const known = Object.hasOwn(schema, 'const') ? this.document.valuesOf(schema) : undefined;
    const knownJson = new Set(known?.map(jsonOf));
    const allowed = values
      .filter((value) => types === undefined || hasType(types, typeOfValue(value)))
      .map(jsonOf)
      .filter((json) => known === undefined || knownJson.has(json));
    const where = this.document.pointer(schema);
    const [only, ...others] = allowed;
    if (only === undefined) {
      throw new UsageError({ where, got: 'no value of its type', expected: 'at least one' });
    }
    return others.length === 0 ? requireSize(text(only), where) : oneOfTexts(allowed, where);
  }

  #byType(schema: SchemaObject): Expression {
    const types = this.document.typesOf(schema) ?? typesByKeywords(schema);
    if (types.length === 0) return rule(ANY_VALUE);
    // Every integer is a number.
    const distinct = [...new Set(types)].filter(
      (type) => type !== 'integer' || !types.includes('number'),
    );
    return choice(...distinct.map((type) => this.#ofType(schema, type)));
  }

  #ofType(schema: SchemaObject, type: TypeName): Expression {
    switch (type) {
      case 'null':
        return text('null');
      case 'boolean':
        return choice(text('true'), text('false'));
      case 'string':
        return compileString(schema, this.document);
      case 'number':
      case 'integer':
        return compileNumber(schema, type, this.document);
      case 'array':
        return compileArray(schema, this);
      case 'object':
        return compileObject(schema, this);
      default:
        return type satisfies never;
    }
  }
}

/** Arrays: first the items of `prefixItems`, then those of `items`, from `minItems` to `maxItems`. */
function compileArray(schema: SchemaObject, context: SchemaContext): Expression {
  const { document, layout } = context;
  const prefix = document.schemasAt(schema, 'prefixItems') ?? [];
  const items = document.schemaAt(schema, 'items') ?? prefix.length === 0;
  const min = document.countAt(schema, 'minItems') ?? 0;
  const most = items === false ? prefix.length : Number.POSITIVE_INFINITY;
  const max = Math.min(document.countAt(schema, 'maxItems') ?? Number.POSITIVE_INFINITY, most);
  if (min > max) {
    throw new UsageError({
      where: document.pointer(schema, 'minItems'),
      got: `${min}`,
      expected: `at most ${max}, the largest number of items`,
    });
  }
  let rest: Expression = EMPTY;
  const restMin = Math.max(0, min - prefix.length);
  const isRepeated = restMin > 1 || max !== Number.POSITIVE_INFINITY;
  const keyword = restMin > 0 && max === Number.POSITIVE_INFINITY ? 'minItems' : 'maxItems';
  const sized = (items: Expression) =>
    isRepeated ? requireSize(items, document.pointer(schema, keyword)) : items;
  if (max > prefix.length) {
    const item = isRepeated ? context.sharedValue(items, schema) : context.value(items, schema);
    if (prefix.length === 0) {
      return layout.bracketed('[]', sized(layout.separated(item, min, max)));
    }
    rest = sized(repeat(sequence(layout.comma, item), restMin, max - prefix.length));
  }
  // An item may be there only if all before it are: the place of a graph is their number.
  const count = Math.min(prefix.length, max);
  const end = count + 1;
  const edges: GraphEdge[] = [];
  for (const [i, schemaOfItem] of prefix.slice(0, count).entries()) {
    if (i >= min) edges.push({ from: i, to: end, body: EMPTY });
    const item = context.value(schemaOfItem, schema);
    edges.push({ from: i, to: i + 1, body: i === 0 ? item : sequence(layout.comma, item) });
  }
  edges.push({ from: count, to: end, body: rest });
  return layout.bracketed('[]', { kind: 'graph', edges, end });
}
