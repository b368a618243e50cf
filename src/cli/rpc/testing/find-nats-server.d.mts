export function findNatsServer(): string | undefined;
