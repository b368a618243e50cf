/** Why a device cannot run a primitive with an operator that it does not have. */
export function missingOperator(name: string): string {
  return `got operator ${name}, expected one that the device has`;
}
