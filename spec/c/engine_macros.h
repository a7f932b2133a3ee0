/* Names that engines, window systems and test frameworks define as macros: the
** headers mean none of them. The standard headers come first, as those have the
** same trouble with them. */
#ifdef __cplusplus
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#undef None
#define None @
#undef Status
#define Status @
#undef Bool
#define Bool @
#undef True
#define True @
#undef False
#define False @
#undef Always
#define Always @
#undef Success
#define Success @
#undef Above
#define Above @
#undef Below
#define Below @
#undef Expose
#define Expose @
#undef KeyPress
#define KeyPress @
#undef FocusIn
#define FocusIn @
#undef Unsorted
#define Unsorted @
#undef CursorShape
#define CursorShape @
#undef Button1
#define Button1 @
#undef near
#define near @
#undef far
#define far @
#undef NEAR
#define NEAR @
#undef FAR
#define FAR @
#undef IN
#define IN @
#undef OUT
#define OUT @
#undef OPTIONAL
#define OPTIONAL @
#undef ERROR
#define ERROR @
#undef small
#define small @
#undef hyper
#define hyper @
#undef interface
#define interface @
#undef CONST
#define CONST @
#undef VOID
#define VOID @
#undef CALLBACK
#define CALLBACK @
#undef DELETE
#define DELETE @
#undef IGNORE
#define IGNORE @
#undef INFINITE
#define INFINITE @
#undef STRICT
#define STRICT @
#undef TRUE
#define TRUE @
#undef FALSE
#define FALSE @
#undef NO_ERROR
#define NO_ERROR @
#undef DIFFERENCE
#define DIFFERENCE @
#undef RELATIVE
#define RELATIVE @
#undef ABSOLUTE
#define ABSOLUTE @
#undef TRANSPARENT
#define TRANSPARENT @
#undef OPAQUE
#define OPAQUE @
#undef PASSTHROUGH
#define PASSTHROUGH @
#undef CreateWindow
#define CreateWindow @
#undef GetObject
#define GetObject @
#undef GetMessage
#define GetMessage @
#undef SendMessage
#define SendMessage @
#undef DrawText
#define DrawText @
#undef LoadImage
#define LoadImage @
#undef GetClassName
#define GetClassName @
#undef FindText
#define FindText @
#undef PlaySound
#define PlaySound @
#undef AddJob
#define AddJob @
#undef Yield
#define Yield @
#undef Rectangle
#define Rectangle @
#undef Polygon
#define Polygon @
#undef PI
#define PI @
#undef INV_PI
#define INV_PI @
#undef SMALL_NUMBER
#define SMALL_NUMBER @
#undef BIG_NUMBER
#define BIG_NUMBER @
#undef UE_PI
#define UE_PI @
#undef DEFAULT_SIZE
#define DEFAULT_SIZE @
#undef MAX_int32
#define MAX_int32 @
#undef INDEX_NONE
#define INDEX_NONE @
#undef FORCEINLINE
#define FORCEINLINE @
#undef TIMEOUT
#define TIMEOUT @
#undef DOMAIN
#define DOMAIN @
#undef OVERFLOW
#define OVERFLOW @
#undef UNDERFLOW
#define UNDERFLOW @
#undef SING
#define SING @
#undef PLOSS
#define PLOSS @
#undef TLOSS
#define TLOSS @
#undef EPSILON
#define EPSILON @
#undef PAGESIZE
#define PAGESIZE @
#undef major
#define major @
#undef minor
#define minor @
#undef makedev
#define makedev @
#undef unix
#define unix @
#undef linux
#define linux @
#undef i386
#define i386 @
#undef signals
#define signals @
#undef slots
#define slots @
#undef emit
#define emit @
#undef foreach
#define foreach @
#undef forever
#define forever @
#undef Q_OBJECT
#define Q_OBJECT @
#undef nil
#define nil @
#undef YES
#define YES @
#undef NO
#define NO @
#undef BOOL
#define BOOL @
#undef SEL
#define SEL @
#undef Nil
#define Nil @
#undef likely
#define likely @
#undef unlikely
#define unlikely @
#undef unused
#define unused @
#undef packed
#define packed @
#undef internal
#define internal @
#undef local
#define local @
#undef global
#define global @
#undef loop
#define loop @
#undef repeat
#define repeat @
#undef unless
#define unless @
#undef fallthrough
#define fallthrough @
#undef Infinity
#define Infinity @
#undef BUFSIZ
#define BUFSIZ @
#undef STDIN
#define STDIN @
#undef OK
#define OK @
#undef FAIL
#define FAIL @
#undef PASS
#define PASS @
#undef DEBUG
#define DEBUG @
#undef RELEASE
#define RELEASE @
#undef INFO
#define INFO @
#undef WARN
#define WARN @
#undef WARNING
#define WARNING @
#undef NOTICE
#define NOTICE @
#undef FATAL
#define FATAL @
#undef TRACE
#define TRACE @
#undef ASSERT_ON
#define ASSERT_ON @
#undef LOG
#define LOG @
#undef SUCCESS
#define SUCCESS @
#undef FAILURE
#define FAILURE @
#undef INVALID
#define INVALID @
#undef UNKNOWN
#define UNKNOWN @
#undef EMPTY
#define EMPTY @
#undef FULL
#define FULL @
#undef ALL
#define ALL @
#undef ANY
#define ANY @
#undef DEFAULT
#define DEFAULT @
#undef AUTO
#define AUTO @
#undef READ
#define READ @
#undef WRITE
#define WRITE @
#undef OPEN
#define OPEN @
#undef CLOSE
#define CLOSE @
#undef BEGIN
#define BEGIN @
#undef END
#define END @
#undef START
#define START @
#undef STOP
#define STOP @
#undef FIRST
#define FIRST @
#undef LAST
#define LAST @
#undef LEFT
#define LEFT @
#undef RIGHT
#define RIGHT @
#undef UP
#define UP @
#undef DOWN
#define DOWN @
#undef TOP
#define TOP @
#undef BOTTOM
#define BOTTOM @
#undef RED
#define RED @
#undef GREEN
#define GREEN @
#undef BLUE
#define BLUE @
#undef ALPHA
#define ALPHA @
#undef VERSION
#define VERSION @
#undef TYPE
#define TYPE @
#undef SIZE
#define SIZE @
#undef COUNT
#define COUNT @
#undef LENGTH
#define LENGTH @
#undef INDEX
#define INDEX @
#undef check
#define check(one) @
#undef checkf
#define checkf(one) @
#undef checkSlow
#define checkSlow(one) @
#undef verify
#define verify(one) @
#undef verifyf
#define verifyf(one) @
#undef ensure
#define ensure(one) @
#undef ensureMsgf
#define ensureMsgf(one) @
#undef ensureAlways
#define ensureAlways(one) @
#undef TEXT
#define TEXT(one) @
#undef _T
#define _T(one) @
#undef min
#define min(one) @
#undef max
#define max(one) @
#undef clamp
#define clamp(one) @
#undef likely_if
#define likely_if(one) @
#undef unlikely_if
#define unlikely_if(one) @
#undef require
#define require(one) @
#undef require_noerr
#define require_noerr(one) @
#undef countof
#define countof(one) @
#undef ARRAYSIZE
#define ARRAYSIZE(one) @
#undef ARRAY_COUNT
#define ARRAY_COUNT(one) @
#undef offset
#define offset(one) @
#undef MIN
#define MIN(one) @
#undef MAX
#define MAX(one) @
#undef ABS
#define ABS(one) @
#undef SQR
#define SQR(one) @
#undef CLAMP
#define CLAMP(one) @
#undef LERP
#define LERP(one) @
#undef SWAP
#define SWAP(one) @
#undef SIGN
#define SIGN(one) @
#undef ROUND
#define ROUND(one) @
#undef DEG2RAD
#define DEG2RAD(one) @
#undef RAD2DEG
#define RAD2DEG(one) @
#undef ZeroMemory
#define ZeroMemory(one) @
#undef CopyMemory
#define CopyMemory(one) @
#undef MoveMemory
#define MoveMemory(one) @
#undef FillMemory
#define FillMemory(one) @
#undef LOBYTE
#define LOBYTE(one) @
#undef HIBYTE
#define HIBYTE(one) @
#undef LOWORD
#define LOWORD(one) @
#undef HIWORD
#define HIWORD(one) @
#undef MAKEWORD
#define MAKEWORD(one) @
#undef RGB
#define RGB(one) @
#undef SAFE_DELETE
#define SAFE_DELETE(one) @
#undef UNUSED
#define UNUSED(one) @
#undef STRINGIFY
#define STRINGIFY(one) @
#undef CONCAT
#define CONCAT(one) @
#undef JOIN
#define JOIN(one) @
#undef PASTE
#define PASTE(one) @
#undef FOREACH
#define FOREACH(one) @
#undef REPEAT
#define REPEAT(one) @
#undef DEFER
#define DEFER(one) @
#undef LIKELY
#define LIKELY(one) @
#undef UNLIKELY
#define UNLIKELY(one) @
#undef ASSERT
#define ASSERT(one) @
#undef VERIFY
#define VERIFY(one) @
#undef CHECK
#define CHECK(one) @
#undef CHECK_EQ
#define CHECK_EQ(one) @
#undef REQUIRE
#define REQUIRE(one) @
#undef EXPECT
#define EXPECT(one) @
#undef TEST
#define TEST(one) @
#undef SECTION
#define SECTION(one) @
#undef SCENARIO
#define SCENARIO(one) @
#undef GIVEN
#define GIVEN(one) @
#undef WHEN
#define WHEN(one) @
#undef THEN
#define THEN(one) @
#undef LOCTEXT
#define LOCTEXT(one) @
#undef UE_LOG
#define UE_LOG(one) @
#undef UFUNCTION
#define UFUNCTION(one) @
#undef UPROPERTY
#define UPROPERTY(one) @
#undef UCLASS
#define UCLASS(one) @
#undef USTRUCT
#define USTRUCT(one) @
#undef GENERATED_BODY
#define GENERATED_BODY(one) @
#undef DEFINE_FUNCTION
#define DEFINE_FUNCTION(one) @
#undef jassert
#define jassert(one) @
#undef jmin
#define jmin(one) @
#undef jmax
#define jmax(one) @
#undef ei_assert
#define ei_assert(one) @
#undef BOOST_FOREACH
#define BOOST_FOREACH(one) @
#undef DLOG
#define DLOG(one) @
#undef VLOG
#define VLOG(one) @
#undef PCHECK
#define PCHECK(one) @
#undef NOTREACHED
#define NOTREACHED(one) @
