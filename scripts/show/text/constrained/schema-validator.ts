import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonSchema } from '../../../../src/text/grammar/schema/schema-types.ts';
import { installPackages } from '../install-packages.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Returns the errors of a value against a schema; undefined for a value that conforms to it. */
export type Validator = (value: unknown) => string | undefined;

interface Ajv {
  compile(schema: JsonSchema): (value: unknown) => boolean;
  errorsText(errors: unknown): string;
}

interface AjvModules {
  readonly Ajv: new (options: { readonly allErrors: boolean; readonly strict: boolean }) => Ajv;
  readonly addFormats: (ajv: Ajv) => void;
}

/** Makes validators of schemas with ajv, which knows nothing of grammars; installs it if it is missing. */
export function openValidators(): (schema: JsonSchema) => Validator {
  installPackages(folder, 'ajv');
  const require = createRequire(join(folder, 'package.json'));
  const { default: Ajv } = require('ajv') as { readonly default: AjvModules['Ajv'] };
  const { default: addFormats } = require('ajv-formats') as {
    readonly default: AjvModules['addFormats'];
  };
  const ajv = new Ajv({ allErrors: true, strict: false });
  addFormats(ajv);
  return (schema) => {
    const validate = ajv.compile(schema);
    return (value) =>
      validate(value) ? undefined : ajv.errorsText(Reflect.get(validate, 'errors'));
  };
}
