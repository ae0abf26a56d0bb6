export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="7" fill="#0b6b80" />
      <g fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round">
        <path d="M7 9h6c4 0 4 14 8 14h4" />
        <path d="M7 15h4c3 0 3.4 8 5.6 8" opacity=".62" />
        <path d="M16.4 9c2.2 0 2.6 8 5.6 8h3" opacity=".62" />
      </g>
    </svg>
  );
}
