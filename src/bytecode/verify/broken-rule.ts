import { VerifyError } from '../../core/errors.ts';

/** The error for a program that breaks a rule, where the text says enough without a remedy. */
export function brokenRule(where: string, got: string, expected: string): VerifyError {
  return new VerifyError({ where, got, expected });
}
