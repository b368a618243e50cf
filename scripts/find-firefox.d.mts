import type { LaunchOptions } from 'playwright';

export function findFirefox(): string | undefined;
export function findLlvmpipe(): string | undefined;
export function missingFirefox(): string | undefined;
export function llvmpipeEnvironment(): Record<string, string>;
export function firefoxLaunchOptions(): LaunchOptions;
