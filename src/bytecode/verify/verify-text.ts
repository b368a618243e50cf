import { brokenRule } from './broken-rule.ts';

const MAX_NAME_LENGTH = 1024;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Checks that a string survives UTF-8. Throws VerifyError. */
export function verifyText(text: string, where: string): void {
  if (!LONE_SURROGATE.test(text)) return;
  throw brokenRule(
    where,
    `${JSON.stringify(text)}, with half of a surrogate pair`,
    'well-formed Unicode',
  );
}

/** Checks a name: well-formed, neither empty nor longer than 1024 UTF-16 units. */
export function verifyName(name: string, where: string): void {
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) {
    throw brokenRule(where, `a name of ${name.length} characters`, `1 to ${MAX_NAME_LENGTH}`);
  }
  verifyText(name, where);
}

export function verifyUnique(names: readonly string[], where: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) {
      throw brokenRule(where, `the name ${JSON.stringify(name)} twice`, 'every name once');
    }
    seen.add(name);
  }
}
