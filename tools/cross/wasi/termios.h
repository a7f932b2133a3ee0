/* For a syntax check: WASI has no terminals. */
typedef unsigned tcflag_t;
struct termios {
    tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    unsigned char c_cc[32];
};
enum { ICANON = 2, ECHO = 8, VTIME = 5, VMIN = 6, TCSANOW = 0 };
#define TIOCGWINSZ 0x5413
struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);
int tcgetpgrp(int);
