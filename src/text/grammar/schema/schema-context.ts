import type { Expression } from '../expression.ts';
import type { JsonLayout } from './json-layout.ts';
import type { SchemaDocument } from './schema-document.ts';
import type { JsonSchema, SchemaObject } from './schema-types.ts';

/** The compiler as the parts of it see it that compile types which contain others. */
export interface SchemaContext {
  readonly document: SchemaDocument;
  readonly layout: JsonLayout;
  /** The values of a schema; a boolean one has its place from the schema around it. */
  value(schema: JsonSchema, holder: SchemaObject): Expression;
  /** The same, as a rule of its own, for what would be written out many times. */
  sharedValue(schema: JsonSchema, holder: SchemaObject): Expression;
}
