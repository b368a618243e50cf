import { UsageError } from '../../../core/errors.ts';
import { counted } from '../count-repetitions.ts';
import { type Expression, sequence, text } from '../expression.ts';
import { requireSize } from '../measure-expression.ts';
import { matchAnywhere, parseRegex, wholeMatch } from '../regex.ts';
import { inJsonString, jsonString } from './json-string.ts';
import type { SchemaDocument } from './schema-document.ts';
import type { SchemaObject } from './schema-types.ts';
import { STRING_FORMATS } from './string-formats.ts';

/** Strings with a number of code points, a pattern or a format. */
export function compileString(schema: SchemaObject, document: SchemaDocument): Expression {
  const min = document.countAt(schema, 'minLength');
  const max = document.countAt(schema, 'maxLength');
  const pattern = document.textAt(schema, 'pattern');
  const format = document.textAt(schema, 'format');
  const [other] = ['format', 'minLength', 'maxLength'].filter((name) =>
    Object.hasOwn(schema, name),
  );
  if (pattern !== undefined) {
    if (other !== undefined) throw together(document, schema, other, 'pattern');
    const where = document.pointer(schema, 'pattern');
    return requireSize(counted(quoted(matchAnywhere(parseRegex(pattern, { where })))), where);
  }
  if (format !== undefined) {
    if (min !== undefined || max !== undefined) {
      throw together(document, schema, min === undefined ? 'maxLength' : 'minLength', 'format');
    }
    if (!Object.hasOwn(STRING_FORMATS, format)) {
      const expected = `one of ${Object.keys(STRING_FORMATS).join(', ')}`;
      throw document.unsupported(schema, 'format', `the format ${format}`, expected);
    }
    return quoted(wholeMatch(parseRegex(STRING_FORMATS[format] ?? '', { where: format })));
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new UsageError({
      where: document.pointer(schema, 'minLength'),
      got: `${min}`,
      expected: `at most maxLength, ${max}`,
    });
  }
  return jsonString(min, max);
}

const quoted = (body: Expression): Expression => sequence(text('"'), inJsonString(body), text('"'));

function together(document: SchemaDocument, schema: SchemaObject, keyword: string, other: string) {
  return document.unsupported(schema, keyword, `${keyword} beside ${other}`, 'one of them');
}
